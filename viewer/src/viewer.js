// The viewer without its panels: a data set, a camera, and frames drawn when something has changed.
import { Dataset } from './data/dataset.js';
import { NodeLoader } from './data/loader.js';
import { Renderer } from './view/renderer.js';
import { OrbitCamera } from './view/orbit_camera.js';
import { Controls } from './view/controls.js';
import { selectNodes } from './view/traversal.js';
import { pick } from './view/pick.js';
import { colourModes, defaultMode, paletteMap, quantileRange, sourceOf } from './view/colouring.js';
import { classTexels, levelTexels, rampTexels } from './view/palettes.js';
import { sumByLevel } from './view/statistics.js';

const CACHE_BASE_BYTES = 256 * 1024 * 1024;
const CACHE_BYTES_PER_BUDGET_POINT = 96;
const PICK_RADIUS_PIXELS = 6;
const MIN_ARRIVAL_MS = 50; // between two frames that only show newly arrived points
const ARRIVAL_SHARE = 3; // of the time that a frame takes, so that at most a third of it goes into such frames
const RESELECT_MS = 120; // while the camera rests, aborts and cache still get their turn

const COVERAGE = 1.7; // point size over point distance at which randomly sampled surfaces look closed
const REST_MS = 250; // after the last move
const MOVING_FRAME_MS = 60; // what a frame may take in motion
const MIN_MOVING_POINTS = 100000;

export const DEFAULTS = Object.freeze({
    budget: 2e6,
    maxError: 1.4, // pixels between samples
    pointSize: 1,
    adaptive: true,
    eyeDome: 0.5,
    boundingBox: false,
    ramp: 'spectrum',
});

export class Viewer extends EventTarget {
    constructor(canvas, pool) {
        super();
        this.pool = pool;
        this.canvas = canvas;
        this.settings = { ...DEFAULTS };
        this.camera = new OrbitCamera();
        this.renderer = new Renderer(canvas);
        this.dataset = null;
        this.selection = null;
        this.modes = [];
        this.mode = null;
        this.ranges = new Map(); // mode name -> [low, high]
        this.hiddenClasses = new Set();
        this.firstPictureMs = null;
        this.drawnAt = 0;
        this.timer = null;
        this.restTimer = null;
        this.movingUntil = 0;
        this.dirty = true;
        this.urgent = true;
        this.framePending = false;
        this.waiters = [];
        this.controls = new Controls(canvas, this.camera, {
            changed: () => this.moved(),
            pickAt: (x, y) => this.pickAt(x, y),
            picked: (hit) => this.emit('picked', hit),
        });
        canvas.addEventListener('webglcontextlost', (event) => {
            event.preventDefault();
            this.emit('error', 'The graphics card dropped the picture. Reload the page to continue.');
        });
        canvas.addEventListener('webglcontextrestored', () => this.invalidate());
        new ResizeObserver(() => this.resize()).observe(canvas);
        this.resize();
        this.renderer.warmUp();
    }

    emit(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }

    async open(url, options = {}) {
        this.dataset = await new Dataset(url, this.pool, options).open(options.requests);
        const { meta } = this.dataset;
        this.scheme = meta.scheme;
        // Everything is drawn relative to the corner of the cube: small numbers for 32-bit floats.
        this.box = { min: this.toLocal(meta.box.min), max: this.toLocal(meta.box.max) };
        this.modes = colourModes(meta);
        const cacheBytes = CACHE_BASE_BYTES + this.settings.budget * CACHE_BYTES_PER_BUDGET_POINT;
        this.loader = new NodeLoader(this.dataset, cacheBytes, {
            onNode: (node, fresh) => this.nodeArrived(node, fresh),
            onDrop: (node) => this.renderer.points.removeNode(node),
            onError: (message) => this.emit('error', message),
            onChange: () => this.invalidate(false),
        });
        this.loader.eager = meta.channels.filter((c) => /^(intensity|classification)$/i.test(c.key));
        this.setMode(defaultMode(meta, this.modes).name);
        this.fit();
        this.emit('opened', meta);
    }

    toLocal(p) {
        return p.map((c, i) => c - this.dataset.meta.origin[i]);
    }

    toWorld(p) {
        return p.map((c, i) => c + this.dataset.meta.origin[i]);
    }

    resize() {
        const { clientWidth, clientHeight } = this.canvas;
        if (clientWidth === 0 || clientHeight === 0) return;
        this.camera.aspect = clientWidth / clientHeight;
        this.renderer.resize(clientWidth, clientHeight);
        this.invalidate();
    }

    fit() {
        this.camera.fit(this.box);
        this.invalidate();
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
        if (!this.dirty || !this.dataset?.root) return;
        if (!this.renderer.isDone()) return this.invalidate(false); // one frame at a time, or the picture lags behind
        this.select();
        const wait = this.drawnAt + Math.max(MIN_ARRIVAL_MS, ARRIVAL_SHARE * this.renderer.frameMs) - performance.now();
        if (this.loader.busy && !this.urgent && wait > 0 && this.firstPictureMs !== null) return this.later(wait);
        if (this.selection.points > 0 || this.firstPictureMs !== null) this.draw();
        this.dirty = this.urgent = false;
        if (this.loader.busy) this.later(RESELECT_MS);
        this.settleWaiters();
    }

    // The nodes of this frame: all that are there, or in motion as many as the graphics card draws in time.
    nodesToDraw() {
        const { draw, points } = this.selection;
        const { frameMs, framePoints } = this.renderer;
        if (!this.isMoving || framePoints === 0) return draw;
        const affordable = Math.max(MIN_MOVING_POINTS, (framePoints / Math.max(frameMs, 1)) * MOVING_FRAME_MS);
        if (points <= affordable) return draw;
        return selectNodes(this.dataset.root, this.view(), { ...this.limits(), budget: affordable }).draw;
    }

    draw() {
        this.renderer.points.show(this.nodesToDraw(), { additive: this.scheme === 'additive' });
        this.renderer.draw(this.camera, this.box);
        this.drawnAt = performance.now();
        if (this.firstPictureMs === null && this.selection.points > 0) this.markFirstPicture();
        this.emit('frame');
    }

    view() {
        return {
            position: this.camera.position(),
            planes: this.camera.planes(),
            pixelsPerRadian: this.canvas.clientHeight / (2 * Math.tan(this.camera.fovY / 2)),
        };
    }

    limits() {
        return { scheme: this.scheme, budget: this.settings.budget, maxError: this.settings.maxError };
    }

    select() {
        this.selection = selectNodes(this.dataset.root, this.view(), this.limits());
        this.loader.update(this.selection);
    }

    markFirstPicture() {
        // The points are on the screen once the graphics card has worked through the frame.
        this.renderer.gl.getContext().finish();
        this.firstPictureMs = performance.now();
        this.emit('firstpicture', this.firstPictureMs);
    }

    nodeArrived(node, fresh) {
        const isRoot = node === this.dataset.root;
        if (isRoot || !this.ranges.has(this.mode.name)) this.learnRange(node);
        this.renderer.points.addNode(node);
        if (fresh && isRoot) this.emit('root');
    }

    // Where the metadata has no range, or one that a few outliers stretch, the first node's values help.
    learnRange(node) {
        const { channel } = this.mode;
        const scalar = channel && node.payload.scalars.get(channel.key);
        if (!scalar || this.mode.kind !== 'ramp' || this.ranges.has(this.mode.name)) return;
        if (channel.range && !/^intensity$/i.test(channel.key)) return;
        const range = quantileRange(scalar.values, channel.base) ?? scalar.range;
        if (range) this.ranges.set(this.mode.name, range);
        this.applyColours();
    }

    fullRange(mode = this.mode) {
        if (mode.channel) return mode.channel.range ?? this.ranges.get(mode.name) ?? [0, 1];
        return [this.dataset.meta.box.min[2], this.dataset.meta.box.max[2]];
    }

    range() {
        return this.ranges.get(this.mode.name) ?? this.fullRange();
    }

    setRange(range) {
        if (range) this.ranges.set(this.mode.name, range);
        else this.ranges.delete(this.mode.name);
        this.applyColours();
    }

    setMode(name) {
        const wanted = String(name).toLowerCase();
        const mode = this.modes.find((m) => m.name === wanted);
        if (!mode) throw new Error(`no colour mode "${name}"; there are ${this.modes.map((m) => m.name).join(', ')}`);
        this.mode = mode;
        this.loader.channel = mode.channel;
        this.renderer.points.setSource(sourceOf(mode), mode.channel);
        if (this.dataset.root?.payload) this.learnRange(this.dataset.root);
        this.applyColours();
    }

    applyColours() {
        const { mode } = this;
        const uniforms = this.renderer.points.uniforms;
        const base = mode.channel ? mode.channel.base : this.dataset.meta.origin[2];
        uniforms.uMap.value.set(...paletteMap(mode, this.range(), base));
        const texels =
            mode.kind === 'classes' ? classTexels(this.hiddenClasses)
            : mode.kind === 'level' ? levelTexels()
            : rampTexels(this.settings.ramp);
        uniforms.uPalette.value.image.data.set(texels);
        uniforms.uPalette.value.needsUpdate = true;
        this.emit('colours');
        this.invalidate();
    }

    // Changes some of the settings of DEFAULTS.
    configure(changes) {
        Object.assign(this.settings, changes);
        const { settings, renderer } = this;
        const uniforms = renderer.points.uniforms;
        const ratio = renderer.gl.getPixelRatio();
        uniforms.uAdaptive.value = settings.adaptive;
        uniforms.uPixelSize.value = settings.adaptive ? COVERAGE * settings.pointSize : 2 * settings.pointSize * ratio;
        uniforms.uSizeLimits.value.set(settings.adaptive ? 1.5 * ratio : 1, 48 * ratio);
        renderer.eyeDomeStrength = settings.eyeDome;
        if (this.loader) this.loader.cache.limitBytes = CACHE_BASE_BYTES + settings.budget * CACHE_BYTES_PER_BUDGET_POINT;
        if (this.box) renderer.setBoxes(settings.boundingBox ? [this.box] : []);
        if ('ramp' in changes && this.mode) this.applyColours();
        this.emit('settings');
        this.invalidate();
    }

    pickAt(x, y) {
        if (!this.selection) return null;
        const { clientWidth, clientHeight } = this.canvas;
        const ray = this.camera.rayThrough((2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight);
        const radius = (PICK_RADIUS_PIXELS * 2 * Math.tan(this.camera.fovY / 2)) / clientHeight;
        return pick(this.selection.draw, ray, radius);
    }

    get idleNow() {
        return Boolean(this.loader) && !this.dirty && !this.loader.busy && !this.isMoving;
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
        const { draw = [], points = 0, budgetReached = false } = this.selection ?? {};
        const pointsByLevel = sumByLevel(draw);
        return {
            pointsDrawn: points,
            nodesDrawn: draw.length,
            nodesLoading: this.loader?.loading ?? 0,
            levels: pointsByLevel.length,
            pointsByLevel,
            firstPictureMs: this.firstPictureMs,
            budgetReached,
            frameMs: this.renderer.frameMs,
            cacheBytes: this.loader?.cache.bytes ?? 0,
        };
    }
}
