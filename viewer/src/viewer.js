// The viewer without its panels: clouds, a camera, and frames drawn when something has changed. What panels show and change
// of a cloud is that of the active one.
import { Cloud } from './cloud.js';
import { Renderer } from './view/renderer.js';
import { OrbitCamera } from './view/orbit_camera.js';
import { Controls } from './view/controls.js';
import { Fly } from './view/fly.js';
import { selectTogether } from './view/traversal.js';
import { nearestSeen, pick } from './view/pick.js';
import { around, hiddenIn, Sight } from './view/sight.js';
import { frameOf } from './view/up_axis.js';
import { beginView } from './begin.js';
import { sumByLevel } from './view/statistics.js';
import { DEFAULTS } from './view/settings.js';
import { State } from './data/hierarchy.js';
import { t } from './texts/texts.js';

const CACHE_BASE_BYTES = 256 * 1024 * 1024;
const CACHE_BYTES_PER_BUDGET_POINT = 96;
const PICK_RADIUS_PIXELS = 6;
const MIN_ARRIVAL_MS = 50; // between two frames that only show newly arrived points
const ARRIVAL_SHARE = 3; // of the time that a frame takes, so that at most a third of it goes into such frames
const RESELECT_MS = 120; // while the camera rests, aborts and cache still get their turn

const REST_MS = 250; // after the last move
const MOVING_FRAME_MS = 60; // what a frame may take in motion
const MIN_MOVING_POINTS = 100000;

// Of the active cloud, and of what is in sight: what is read, and what is called.
const OF_CLOUD = ['dataset', 'loader', 'modes', 'mode', 'ranges', 'filter'];
const BY_CLOUD = [
    'setMode', 'range', 'fullRange', 'setRange', 'domainOf', 'sampleOf', 'hideClasses', 'setFilter', 'setReturns', 'clearFilters', 'toLocal', 'toWorld', 'toSource',
];
const BY_SIGHT = ['fit', 'gapBetween', 'drawnPoints', 'pointAt'];
const ALWAYS_TOLD = new Set(['error', 'offline']); // of a cloud that is not the active one

export class Viewer extends EventTarget {
    constructor(canvas, pool) {
        super();
        this.pool = pool;
        this.canvas = canvas;
        this.settings = { ...DEFAULTS };
        this.camera = new OrbitCamera();
        this.renderer = new Renderer(canvas);
        canvas.style.visibility = 'hidden'; // composed with the page before its first picture, it would wait for the shaders
        this.clouds = []; // those that are open
        this.active = this.newCloud();
        this.selection = null; // of all clouds
        this.tool = null; // what clicks are for: { click(x, y) -> whether it took it }
        this.sight = new Sight(this);
        this.beginning = null; // while it is to be found how the cloud is to be looked at
        this.firstPictureMs = null;
        this.drawnAt = 0;
        this.timer = null;
        this.restTimer = null;
        this.movingUntil = 0;
        this.dirty = true;
        this.urgent = true;
        this.framePending = false;
        this.waiters = [];
        this.fly = new Fly(this.camera, {
            moved: () => this.moved(),
            changed: (isOn) => this.emit('flying', isOn),
            said: (speed) => this.emit('speed', speed),
        });
        this.controls = new Controls(canvas, this.camera, this.fly, {
            changed: () => this.moved(),
            pickAt: (x, y) => this.pickAt(x, y),
            nearestAt: (x, y) => this.nearestAt(x, y),
            centre: () => this.box.min.map((m, i) => (m + this.box.max[i]) / 2),
            picked: (hit) => this.emit('picked', hit),
            clicked: (x, y) => Boolean(this.tool?.click(x, y)),
            ended: () => this.tool?.end(),
        });
        canvas.addEventListener('webglcontextlost', (event) => {
            event.preventDefault();
            this.emit('error', t('page.lost'));
        });
        canvas.addEventListener('webglcontextrestored', () => this.invalidate());
        new ResizeObserver(() => this.resize()).observe(canvas);
        this.followPixelRatio();
        this.resize();
    }

    emit(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }

    newCloud() {
        const cloud = new Cloud(this.renderer.newPoints(), this.settings, {
            emit: (type, detail) => (cloud === this.active || ALWAYS_TOLD.has(type) ? this.emit(type, detail) : null),
            invalidate: (urgent) => this.invalidate(urgent),
        });
        return cloud;
    }

    get cacheBytes() {
        return (CACHE_BASE_BYTES + this.settings.budget * CACHE_BYTES_PER_BUDGET_POINT) / Math.max(1, this.clouds.length);
    }

    // The first cloud, which says where the coordinates of the picture begin. options { begins: nothing says how it is to be
    // looked at: which axis is up is found, and a room is opened }
    async open(url, options = {}) {
        await this.active.open(url, this.pool, options, this.cacheBytes).catch((error) => {
            if (this.clouds.length === 0) this.showBackground();
            throw error;
        });
        if (options.begins && this.dataset.root) this.beginning = beginView(this).finally(() => this.begun());
        this.clouds = [this.active];
        this.applySizes();
        this.applyUp();
        if (this.dataset.root) this.select(); // the first node is asked for now, and arrives while the page tells of the data set
        this.renderer.warmUp();
        this.emit('opened', this.dataset.meta);
        this.emit('clouds');
    }

    get isBeginning() {
        return this.beginning !== null && (this.busy || this.dataset.root.state === State.READY); // else the first node is not in view
    }

    begun() {
        this.beginning = null;
        this.invalidate();
    }

    // One more cloud, in the same space.
    async add(url) {
        const { origin, stretch, crs, isLonLat } = this.clouds[0].dataset.meta;
        const cloud = this.newCloud();
        try {
            await cloud.open(url, this.pool, { frame: { origin, stretch, crs, isLonLat } }, this.cacheBytes);
        } catch (error) {
            this.renderer.removePoints(cloud.points);
            throw error;
        }
        cloud.setClipBoxes(this.active.filter.boxes);
        this.clouds.push(cloud);
        for (const { loader } of this.clouds) loader.cache.limitBytes = this.cacheBytes;
        this.applySizes();
        this.applyBoxes();
        this.emit('clouds');
        this.invalidate();
        return cloud;
    }

    // Another data set takes the place of a cloud's own: exchange() does it, and the same frame shows it.
    replaced(cloud, exchange) {
        exchange();
        this.applySizes();
        this.applyBoxes();
        this.select();
        this.emit('replaced', cloud);
        if (cloud === this.active) for (const type of ['opened', 'modes', 'colours', 'classes', 'filters']) this.emit(type, cloud.dataset.meta);
        this.emit('clouds');
        this.invalidate();
    }

    // Not the first one, whose space the others share.
    remove(cloud) {
        if (this.clouds.indexOf(cloud) < 1) return;
        if (cloud === this.active) this.activate(this.clouds[0]);
        cloud.close();
        this.renderer.removePoints(cloud.points);
        this.clouds = this.clouds.filter((c) => c !== cloud);
        this.applyBoxes();
        this.emit('clouds');
        this.invalidate();
    }

    // The cloud that the panels are about from now on.
    activate(cloud) {
        if (cloud === this.active || !this.clouds.includes(cloud)) return;
        this.active = cloud;
        for (const type of ['active', 'modes', 'colours', 'classes', 'filters', 'clouds']) this.emit(type, cloud.dataset.meta);
    }

    // Undoes whatever hides points: clip boxes, filters, classes and clouds that are switched off.
    showEverything() {
        if (this.marks.boxes.length > 0) this.marks.replace(this.marks.list.filter(({ kind }) => kind !== 'clip'));
        for (const cloud of this.clouds) {
            cloud.hideClasses([]);
            cloud.clearFilters();
            if (!cloud.isShown) this.showCloud(cloud, true);
        }
        this.fit();
    }

    showCloud(cloud, isShown) {
        cloud.isShown = isShown;
        this.emit('clouds');
        this.invalidate();
    }

    get shownClouds() {
        return this.clouds.filter(({ isShown }) => isShown);
    }

    // Of the first cloud: in whose coordinates and units all are drawn, measured and marked.
    get space() {
        return (this.clouds[0] ?? this.active).dataset?.meta ?? null;
    }

    get busy() {
        return this.clouds.some(({ loader }) => loader.busy);
    }

    // Around all clouds that are shown, as drawn; and the same without strays, or null where there are none.
    get box() {
        return around((this.shownClouds.length > 0 ? this.shownClouds : this.clouds).map((cloud) => cloud.box));
    }

    get rest() {
        const clouds = this.shownClouds;
        return clouds.some(({ rest }) => rest) ? around(clouds.map(({ rest, box }) => rest ?? box)) : null;
    }

    resize() {
        if (this.imageSize) return; // a picture is being made
        const { clientWidth, clientHeight } = this.canvas;
        if (clientWidth === 0 || clientHeight === 0) return;
        this.camera.aspect = clientWidth / clientHeight;
        this.renderer.resize(clientWidth, clientHeight);
        this.applySizes();
        this.invalidate();
    }

    // Draws all that a picture of width x height pixels wants, and calls use(canvas) while it is drawn.
    async withSize(width, height, use) {
        this.imageSize = [width, height];
        try {
            this.camera.aspect = width / height;
            this.renderer.resize(width, height, 1);
            this.applySizes();
            await this.idle();
            this.select();
            this.draw();
            use(this.canvas);
        } finally {
            this.imageSize = null;
            this.resize();
        }
    }

    // A window that moves to another screen changes its pixels but not its size.
    followPixelRatio() {
        const query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
        query.addEventListener('change', () => {
            this.invalidate();
            this.followPixelRatio();
        }, { once: true });
    }

    // A frame is due; several reasons before the next one make one frame. What a person does is shown at once;
    // points that arrive wait a little, so that a slow graphics card is not busy with nothing but arrivals.
    invalidate(urgent = true) {
        this.dirty = true;
        this.urgent ||= urgent;
        if (this.framePending) return;
        this.framePending = true;
        requestAnimationFrame(() => this.frame());
    }

    // The camera is in motion. A slow graphics card then gets fewer points, and all of them when it comes to rest.
    moved() {
        this.movingUntil = performance.now() + REST_MS;
        clearTimeout(this.restTimer);
        this.restTimer = setTimeout(() => this.invalidate(), REST_MS + 10);
        this.invalidate();
    }

    get isMoving() {
        return performance.now() < this.movingUntil;
    }

    later(ms) {
        this.timer ??= setTimeout(() => {
            this.timer = null;
            this.invalidate(false);
        }, ms);
    }

    frame() {
        this.framePending = false;
        if (!this.dirty || !this.clouds.some(({ dataset }) => dataset.root)) return;
        if (!this.renderer.isDone()) return this.invalidate(false); // one frame at a time, or the picture lags behind
        if (!this.imageSize && this.renderer.pixelRatio() !== this.renderer.gl.getPixelRatio()) this.resize();
        this.select();
        const wait = this.drawnAt + Math.max(MIN_ARRIVAL_MS, ARRIVAL_SHARE * this.renderer.frameMs) - performance.now();
        if (this.busy && !this.urgent && wait > 0 && this.firstPictureMs !== null) return this.later(wait);
        if (this.isBeginning) return this.later(RESELECT_MS); // the picture would turn over
        if (this.selection.points > 0 || this.firstPictureMs !== null || this.seesNothingYet) this.draw();
        else if (!this.busy) this.showBackground(this.boxInSight());
        this.dirty = this.urgent = false;
        if (this.busy) this.later(RESELECT_MS);
        this.settleWaiters();
    }

    // No first picture will come, of no points or after an error: what is behind it, and what tools draw, is there all the same.
    showBackground(box = { min: [-1, -1, -1], max: [1, 1, 1] }) {
        this.renderer.draw(this.camera, box);
        this.canvas.style.visibility = '';
        if (this.clouds.length > 0) this.emit('frame');
    }

    // Nothing is in the picture and nothing will come into it: the first picture is one without points.
    get seesNothingYet() {
        const clouds = this.clouds.map(({ dataset }) => dataset);
        return !this.busy && this.selection.points === 0 && clouds.some(({ meta }) => meta.points > 0) && !clouds.some(({ root }) => root.state === State.FAILED);
    }

    // The nodes of each cloud in this frame: all that are there, or in motion as many as the graphics card draws in time.
    nodesToDraw(view) {
        const { frameMs, framePoints } = this.renderer;
        const affordable = Math.max(MIN_MOVING_POINTS, (framePoints / Math.max(frameMs, 1)) * MOVING_FRAME_MS);
        const all = this.clouds.map(({ selection }) => selection);
        const fewer = this.isMoving && framePoints > 0 && this.selection.points > affordable;
        return (fewer ? selectTogether(this.trees, view, { ...this.limits, budget: affordable }) : all).map(({ draw }) => draw);
    }

    draw() {
        const nodes = this.nodesToDraw(this.clippedView());
        this.clouds.forEach((cloud, i) => cloud.show(nodes[i], i));
        this.renderer.draw(this.camera, this.boxInSight());
        this.drawnAt = performance.now();
        if (this.firstPictureMs === null) this.markFirstPicture();
        this.emit('frame');
        this.sight.later();
    }

    // What depth must tell apart: not a few points that are a thousand times as far as all that is looked at.
    boxInSight() {
        if (!this.rest) return this.box;
        const size = Math.hypot(...this.rest.max.map((m, i) => m - this.rest.min[i]));
        return this.camera.distance < 10 * size ? this.rest : this.box;
    }

    view() {
        return {
            position: this.camera.position(),
            planes: this.camera.planes(),
            pixelsPerRadian: this.renderer.height / (2 * Math.tan(this.camera.fovY / 2)),
            pixelsPerUnit: this.camera.isOrthographic ? this.renderer.height / (2 * this.camera.halfHeight) : 0,
        };
    }

    // What all clouds have together: the budget goes where it is seen.
    get limits() {
        return { budget: this.settings.budget, maxError: this.settings.maxError };
    }

    get trees() {
        return this.clouds.map(({ tree }) => tree);
    }

    // Where one clip box shows what is within it, nothing else is loaded.
    clippedView() {
        const view = this.view();
        const showing = this.filter.boxes.filter(({ inside }) => inside);
        if (showing.length === 1) view.planes.push(...showing[0].planes());
        return view;
    }

    select() {
        selectTogether(this.trees, this.clippedView(), this.limits).forEach((selection, i) => this.clouds[i].take(selection));
        const all = this.clouds.map(({ selection }) => selection);
        this.selection = {
            draw: all.flatMap(({ draw }) => draw), points: all.reduce((sum, { points }) => sum + points, 0), budgetReached: all.some(({ budgetReached }) => budgetReached),
        };
    }

    markFirstPicture() {
        // The points are on the screen once the graphics card has worked through the frame.
        this.renderer.gl.getContext().finish();
        this.canvas.style.visibility = '';
        this.firstPictureMs = performance.now();
        this.emit('firstpicture', this.firstPictureMs);
    }

    // boxes: of ClipBox; they cut all clouds.
    setClipBoxes(boxes) {
        for (const cloud of this.clouds) cloud.setClipBoxes(boxes);
    }

    // Turns the data so that one of its axes points up, and shows all of it.
    applyUp() {
        this.camera.frame = frameOf(this.settings.up);
        if (this.clouds.length === 0) return;
        for (const cloud of this.clouds) cloud.applyUp();
        this.fit();
    }

    applySizes() {
        for (const cloud of new Set([...this.clouds, this.active])) cloud.applySizes(this.renderer.gl.getPixelRatio());
    }

    applyBoxes() {
        this.renderer.setBoxes(this.settings.boundingBox ? this.clouds.map(({ box }) => box) : []);
    }

    // Maps with the cloud: see vector_scene.js and basemap.js.
    setVectors(layers) {
        this.renderer.vectors.set(layers);
        this.invalidate();
    }

    setFloor(tiles) {
        this.renderer.setFloor(tiles);
        this.invalidate();
    }

    // Changes some of the settings of DEFAULTS.
    configure(changes) {
        Object.assign(this.settings, changes);
        const { settings, renderer } = this;
        this.applySizes();
        renderer.eyeDomeStrength = settings.eyeDome;
        renderer.isAveraged = settings.averaged;
        this.camera.isOrthographic = settings.orthographic;
        for (const { loader } of this.clouds) loader.cache.limitBytes = this.cacheBytes;
        this.applyBoxes();
        if ('ramp' in changes) for (const cloud of this.clouds) cloud.applyColours();
        if ('up' in changes) this.applyUp();
        if ('autoExposure' in changes) for (const cloud of this.clouds) cloud.applyExposure();
        this.emit('settings');
        this.invalidate();
    }

    pickAt(x, y) {
        if (!this.selection) return null;
        const { camera, canvas } = this;
        const seen = camera.isOrthographic ? camera.halfHeight : Math.tan(camera.fovY / 2);
        const radius = (PICK_RADIUS_PIXELS * 2 * seen) / canvas.clientHeight;
        return pick(this.selection.draw, this.rayAt(x, y), radius, hiddenIn);
    }

    // The point on the screen nearest to a place on the screen, or null.
    nearestAt(x, y) {
        if (!this.selection) return null;
        return nearestSeen(this.selection.draw, this.rayAt(x, y), this.camera.planes(), hiddenIn);
    }

    // Where a drawn point is in the picture, in CSS pixels; null behind the eye.
    onScreen(point) {
        return this.camera.onScreen(point, this.canvas.clientWidth, this.canvas.clientHeight);
    }

    rayAt(x, y) {
        return this.camera.rayAt(x, y, this.canvas.clientWidth, this.canvas.clientHeight);
    }

    get idleNow() {
        return this.clouds.length > 0 && !this.dirty && !this.busy && !this.isMoving && !this.isBeginning;
    }

    // Resolves once nothing more is to load or to draw for this view.
    idle() {
        return new Promise((resolve) => {
            this.waiters.push(resolve);
            this.invalidate();
        });
    }

    settleWaiters() {
        if (!this.idleNow) return;
        for (const resolve of this.waiters.splice(0)) resolve();
    }

    stats() {
        const { draw = [], budgetReached = false } = this.selection ?? {};
        const pointsByLevel = sumByLevel(draw, (node) => node.cloud.filter.countVisible(node));
        return {
            pointsDrawn: pointsByLevel.reduce((sum, n) => sum + n, 0),
            nodesDrawn: draw.length,
            nodesLoading: this.clouds.reduce((sum, { loader }) => sum + loader.loading, 0),
            levels: pointsByLevel.length,
            pointsByLevel,
            firstPictureMs: this.firstPictureMs,
            budgetReached,
            frameMs: this.renderer.frameMs,
            cacheBytes: this.clouds.reduce((sum, { loader }) => sum + loader.cache.bytes, 0),
        };
    }
}

for (const name of OF_CLOUD) {
    Object.defineProperty(Viewer.prototype, name, {
        get() {
            return this.active[name];
        },
    });
}
for (const [part, names] of [['active', BY_CLOUD], ['sight', BY_SIGHT]]) {
    for (const name of names) {
        Viewer.prototype[name] = function (...args) {
            return this[part][name](...args);
        };
    }
}
