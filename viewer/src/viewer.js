// The viewer without its panels: a data set, a camera, and frames drawn when something has changed.
import { datasetAt } from './data/open_dataset.js';
import { NodeLoader } from './data/loader.js';
import { Renderer } from './view/renderer.js';
import { OrbitCamera } from './view/orbit_camera.js';
import { Controls } from './view/controls.js';
import { Fly } from './view/fly.js';
import { selectNodes } from './view/traversal.js';
import { nearestSeen, pick, seesAny, shownBox } from './view/pick.js';
import { channelsOf, channelValues, colourModes, defaultMode, isBlack, isStretched, paletteMap, quantileRange, sourceOf } from './view/colouring.js';
import { hasValue } from './data/decode.js';
import { PointFilter, RETURNS } from './view/point_filter.js';
import { frameOf, heightRange, upAxis, upName } from './view/up_axis.js';
import { classTexels, labelTexels, levelTexels, rampTexels } from './view/palettes.js';
import { Sizing } from './view/point_material.js';
import { toned } from './view/tone.js';
import { sumByLevel } from './view/statistics.js';
import { DEFAULTS } from './view/settings.js';

const CACHE_BASE_BYTES = 256 * 1024 * 1024;
const CACHE_BYTES_PER_BUDGET_POINT = 96;
const PICK_RADIUS_PIXELS = 6;
const SAMPLE_NODES = 12; // that tell how values are distributed
const SAMPLE_POINTS = 1000; // of a node that tells the range of a channel
const MIN_ARRIVAL_MS = 50; // between two frames that only show newly arrived points
const ARRIVAL_SHARE = 3; // of the time that a frame takes, so that at most a third of it goes into such frames
const RESELECT_MS = 120; // while the camera rests, aborts and cache still get their turn

const COVERAGE = 1.7; // point size over point distance at which randomly sampled surfaces look closed
const REST_MS = 250; // after the last move
const LOOK_MS = 300; // after the last frame: is anything in the picture?
const MOVING_FRAME_MS = 60; // what a frame may take in motion
const MIN_MOVING_POINTS = 100000;

// Few points are drawn larger: one pixel alone on the screen is not found.
export function minPointPixels(points) {
    return points > 20000 ? 1.5 : points > 1000 ? 3 : 6;
}

// The metadata's counts hold only where it counts each point once.
function filterOf(meta) {
    const channel = meta.channels.find((c) => c.isClass) ?? null;
    const histogram = channel && meta.points === meta.sourcePoints ? meta.layout.attributes[channel.attribute].histogram : [];
    const named = (name) => meta.channels.find((c) => c.key.toLowerCase() === name);
    const returns = { number: named('return number'), count: named('number of returns') };
    return new PointFilter(channel, histogram.slice(0, 256), returns.number && returns.count ? returns : null);
}

function normalColour(n) {
    const length = Math.hypot(...n);
    return length > 0 && length < 1e30 ? n.map((c) => Math.round(127.5 + (127.5 * c) / length)) : null;
}

// Channels of all attributes, colours among them, that give numbers as they are and not relative to a base.
function exactChannels({ channels, layout }) {
    const { rgb } = layout;
    const colours = rgb ? ['red', 'green', 'blue'].map((key, element) => ({ key, attribute: rgb.index, element, type: rgb.type, scale: 1, shift: 0, unit: '', time: null })) : [];
    return [...channels, ...colours].map((channel) => ({ ...channel, base: 0, exact: true }));
}

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
        this.filter = new PointFilter(null);
        this.tool = null; // what clicks are for: { click(x, y) -> whether it took it }
        this.lookTimer = null;
        this.seesNothing = false;
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
        });
        canvas.addEventListener('webglcontextlost', (event) => {
            event.preventDefault();
            this.emit('error', 'The graphics card dropped the picture. Reload the page to continue.');
        });
        canvas.addEventListener('webglcontextrestored', () => this.invalidate());
        new ResizeObserver(() => this.resize()).observe(canvas);
        this.followPixelRatio();
        this.resize();
        this.renderer.warmUp();
    }

    emit(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }

    async open(url, options = {}) {
        this.dataset = await datasetAt(url, this.pool, options).open(options.requests);
        const { meta } = this.dataset;
        this.scheme = meta.scheme;
        this.box = { min: this.toLocal(meta.box.min), max: this.toLocal(meta.box.max) };
        this.rest = meta.rest && { min: this.toLocal(meta.rest.min), max: this.toLocal(meta.rest.max) };
        this.modes = colourModes(meta);
        this.filter = filterOf(meta);
        this.renderer.points.filter = this.filter;
        this.domains = new Map(); // key of a channel -> [low, high] of what is loaded
        const cacheBytes = CACHE_BASE_BYTES + this.settings.budget * CACHE_BYTES_PER_BUDGET_POINT;
        this.loader = new NodeLoader(this.dataset, cacheBytes, {
            onNode: (node, fresh) => this.nodeArrived(node, fresh),
            onDrop: (node) => this.renderer.points.removeNode(node),
            onError: (message) => this.emit('error', message),
            onOffline: (message) => this.emit('offline', message),
            onChange: () => this.invalidate(false),
        });
        this.loader.eager = meta.channels.filter((c) => /^(intensity|classification)$/i.test(c.key));
        this.setMode(defaultMode(meta, this.modes).name);
        this.applySizes();
        this.applyUp();
        this.emit('opened', meta);
    }

    // From the data set's coordinates to those that are drawn, and back.
    toLocal(p) {
        const { origin, stretch } = this.dataset.meta;
        return p.map((c, i) => (c - origin[i]) * stretch[i]);
    }

    toWorld(p) {
        const { origin, stretch } = this.dataset.meta;
        return p.map((c, i) => c / stretch[i] + origin[i]);
    }

    // The coordinates of a point as the file holds them: whole steps of its scale. What is drawn is rounded to 32 bits.
    toSource(p) {
        const { scale, offset } = this.dataset.meta;
        return this.toWorld(p).map((c, i) => Math.round((c - offset[i]) / scale[i]) * scale[i] + offset[i]);
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

    // Shows the whole cloud, except a few points that lie far from it; where classes are hidden, what is known of the others.
    fit() {
        const loaded = this.filter.isActive ? [...this.loader.cache.entries.keys()] : [];
        this.camera.fit(shownBox(loaded, (node) => this.filter.hiddenIn(node)) ?? this.rest ?? this.box);
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
        if (!this.imageSize && this.renderer.pixelRatio() !== this.renderer.gl.getPixelRatio()) this.resize();
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
        this.renderer.points.show(this.nodesToDraw(), { additive: this.scheme === 'additive', spacing: this.drawnSpacing() });
        this.renderer.draw(this.camera, this.boxInSight());
        this.drawnAt = performance.now();
        if (this.firstPictureMs === null && this.selection.points > 0) this.markFirstPicture();
        this.emit('frame');
        clearTimeout(this.lookTimer);
        this.lookTimer = setTimeout(() => this.look(), LOOK_MS);
    }

    // What depth must tell apart: not a few points that are a thousand times as far as all that is looked at.
    boxInSight() {
        if (!this.rest) return this.box;
        const size = Math.hypot(...this.rest.max.map((m, i) => m - this.rest.min[i]));
        return this.camera.distance < 10 * size ? this.rest : this.box;
    }

    // Says when nothing is in the picture any more, and when something is again.
    look() {
        const nothing = !this.loader.busy && !seesAny(this.selection.draw, this.camera.planes(), (node) => this.filter.hiddenIn(node));
        if (nothing === this.seesNothing) return;
        this.seesNothing = nothing;
        this.emit('seesnothing', nothing);
    }

    // Cells of degrees and metres are no cubes on the ground: there the points drawn share the area of the whole.
    drawnSpacing() {
        if (!this.dataset.meta.isLonLat) return null;
        const [width, length] = this.box.max.map((m, i) => m - this.box.min[i]);
        return Math.sqrt((width * length) / Math.max(1, this.selection.points)) || null;
    }

    view() {
        return {
            position: this.camera.position(),
            planes: this.camera.planes(),
            pixelsPerRadian: this.renderer.height / (2 * Math.tan(this.camera.fovY / 2)),
            pixelsPerUnit: this.camera.isOrthographic ? this.renderer.height / (2 * this.camera.halfHeight) : 0,
        };
    }

    limits() {
        return { scheme: this.scheme, budget: this.settings.budget, maxError: this.settings.maxError };
    }

    // Where one clip box shows what is within it, nothing else is loaded.
    clipPlanes() {
        const showing = this.filter.boxes.filter(({ inside }) => inside);
        return showing.length === 1 ? showing[0].planes() : [];
    }

    select() {
        const view = this.view();
        view.planes.push(...this.clipPlanes());
        this.selection = selectNodes(this.dataset.root, view, this.limits());
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
        if (isRoot && fresh) this.learnColours(node);
        if (isRoot || this.rest || !this.ranges.has(this.mode.name)) this.learnRange(node);
        for (const scalar of node.payload.scalars.values()) this.learnDomain(scalar);
        if (this.filter.learn(node)) this.emit('classes');
        this.renderer.points.addNode(node);
        if (fresh && isRoot) this.emit('root');
    }

    // Where the metadata does not say whether there are colours, those of the root do.
    learnColours(root) {
        const { rgb } = this.dataset.meta.layout;
        if (!rgb || rgb.max.length > 0 || !isBlack(root.payload)) return;
        this.modes = this.modes.filter((mode) => mode.kind !== 'rgb');
        if (this.mode.kind === 'rgb') this.setMode('height');
        this.emit('modes');
    }

    // Where the metadata has no range, or one that a few outliers stretch, the first node's values help.
    learnRange(node) {
        const { mode } = this;
        if (mode.kind !== 'ramp') return;
        if (this.rest) this.widenRange(node);
        if (this.rest || this.ranges.has(mode.name)) return;
        const full = mode.channel ? mode.channel.range : this.domainOf(mode);
        if (full && node !== this.dataset.root) return; // only the root is a sample of the whole
        const values = this.valuesIn(node);
        const range = values && quantileRange(values);
        if (!range || (full && !/^intensity$/i.test(mode.name) && !isStretched(full, range))) return;
        this.ranges.set(mode.name, range);
        this.applyColours();
    }

    // Where a few points stretch the cube, its root holds hardly any others: all nodes that hold many are the sample.
    widenRange(node) {
        const { mode } = this;
        const known = this.ranges.get(mode.name);
        if (node.numPoints < SAMPLE_POINTS || (known && known !== this.widened)) return; // a person's own stays
        const values = this.valuesIn(node);
        const range = values && quantileRange(values);
        if (!range) return;
        this.widened = known ? [Math.min(known[0], range[0]), Math.max(known[1], range[1])] : range;
        this.ranges.set(mode.name, this.widened);
        this.applyColours();
    }

    // What a mode shows of the points of a node that are not hidden (or of all), or null where it is not loaded.
    valuesIn(node, { channel } = this.mode, all = false) {
        const isHidden = all ? null : this.filter.hiddenIn(node);
        if (!channel) return this.heightsIn(node, isHidden);
        const scalar = node.payload.scalars.get(channel.key);
        return scalar ? channelValues(channel, scalar.values, isHidden) : null;
    }

    heightsIn(node, isHidden) {
        const { axis, sign } = upAxis(this.settings.up);
        const { origin, stretch } = this.dataset.meta;
        const { position } = node.payload;
        const heights = [];
        for (let i = 0; i < position.length / 3; i++) {
            if (!isHidden?.(i)) heights.push(sign * ((position[3 * i + axis] + node.min[axis]) / stretch[axis] + origin[axis]));
        }
        return heights;
    }

    fullRange(mode = this.mode) {
        return this.domainOf(mode);
    }

    range() {
        return this.ranges.get(this.mode.name) ?? this.fullRange();
    }

    setRange(range) {
        if (range) this.ranges.set(this.mode.name, range[0] <= range[1] ? [...range] : [range[1], range[0]]);
        else this.ranges.delete(this.mode.name);
        this.applyColours();
    }

    setMode(name) {
        const wanted = String(name).toLowerCase();
        const mode = this.modes.find((m) => m.name === wanted);
        if (!mode) throw new Error(`no colour mode "${name}"; there are ${this.modes.map((m) => m.name).join(', ')}`);
        this.mode = mode;
        this.needChannels();
        this.renderer.points.setSource(sourceOf(mode), channelsOf(mode));
        if (this.dataset.root?.payload) this.learnRange(this.dataset.root);
        this.applyColours();
    }

    applyColours() {
        const { mode } = this;
        const uniforms = this.renderer.points.uniforms;
        uniforms.uMap.value.set(...paletteMap(mode, this.range(), mode.channel ?? this.heights()));
        const texels =
            mode.kind === 'classes' ? classTexels()
            : mode.kind === 'labels' ? labelTexels()
            : mode.kind === 'level' ? levelTexels()
            : rampTexels(this.settings.ramp);
        uniforms.uLabels.value = mode.kind === 'labels';
        uniforms.uPalette.value.image.data.set(texels);
        uniforms.uPalette.value.needsUpdate = true;
        this.emit('colours');
        this.invalidate();
    }

    // How the shader's heights, relative to the corner of the data set, become those of the data.
    heights() {
        const { axis, sign } = upAxis(this.settings.up);
        return { base: 0, scale: 1, shift: sign * this.dataset.meta.origin[axis] };
    }

    // codes: the classes that are not to be seen.
    hideClasses(codes) {
        this.filter.hide([...codes].map(Number).filter((code) => Number.isInteger(code) && code >= 0 && code < 256));
        this.filterChanged();
        this.emit('classes');
    }

    // Shows only points whose value of a colour mode (not of RGB, classes or levels) lies in a range; null: all.
    setFilter(name, range) {
        const mode = this.modes.find((m) => m.name === name);
        const isRange = mode && (mode.kind === 'ramp' || mode.kind === 'labels');
        if (!isRange) throw new Error(`no range of "${name}"`);
        if (range) this.filter.ranges.set(name, { channel: mode.channel, range: [...range].sort((a, b) => a - b) });
        else this.filter.ranges.delete(name);
        this.filterChanged();
    }

    // returns: one of RETURNS, or null for all.
    setReturns(returns) {
        if (returns !== null && !RETURNS.includes(returns)) throw new Error(`no returns "${returns}"`);
        this.filter.returns = this.filter.returnChannels ? returns : null;
        this.filterChanged();
    }

    // All filters but that of classes.
    clearFilters() {
        this.filter.ranges.clear();
        this.filter.returns = null;
        this.filterChanged();
    }

    // boxes: of ClipBox.
    setClipBoxes(boxes) {
        this.filter.boxes = boxes;
        this.filterChanged();
    }

    // Coordinates [x, y, z, x, …] of all points drawn that are not hidden, of nodes that reach into a box, and where they are
    // from: visit(node, index).
    drawnPoints({ min, max }, visit = null) {
        const out = [];
        for (const node of this.selection?.draw ?? []) {
            const { box } = node.payload;
            if ([0, 1, 2].some((i) => box.min[i] + node.min[i] > max[i] || box.max[i] + node.min[i] < min[i])) continue;
            const isHidden = this.filter.hiddenIn(node);
            const { position } = node.payload;
            for (let i = 0; i < position.length / 3; i++) {
                if (isHidden?.(i)) continue;
                for (let k = 0; k < 3; k++) out.push(position[3 * i + k] + node.min[k]);
                visit?.(node, i);
            }
        }
        return out;
    }

    // All attributes of a point as the file has them: [{ key, value }] or the reason why they cannot be read.
    async attributesOf(node, index) {
        const channels = exactChannels(this.dataset.meta);
        const bytes = node.byteSize > 0 ? await this.dataset.fetchNodes(node.byteOffset, node.byteSize) : new ArrayBuffer(0);
        const { scalars } = await this.dataset.decode(node, bytes, channels, false);
        return scalars.map(({ key, values }, i) => ({ key, channel: channels[i], value: values[index] * channels[i].scale + channels[i].shift }));
    }

    // The drawn point at a place of the file's coordinates: { node, index, point }, or null.
    pointAt(world) {
        const place = this.toLocal(world);
        const { scale, stretch } = this.dataset.meta;
        const reach = scale.map((s, i) => 0.6 * s * stretch[i] + 1e-6 * Math.abs(place[i]));
        let found = null;
        this.drawnPoints({ min: place.map((c, i) => c - reach[i]), max: place.map((c, i) => c + reach[i]) }, (node, index) => {
            if (found) return;
            const point = [0, 1, 2].map((k) => node.payload.position[3 * index + k] + node.min[k]);
            if (point.every((c, k) => Math.abs(c - place[k]) <= reach[k])) found = { node, index, point };
        });
        return found;
    }

    // The colour of a point as it is drawn: [red, green, blue] of 255.
    colourAt(node, index) {
        const { mode } = this;
        const plain = [140, 153, 168];
        if (mode.kind === 'rgb') return toned([...node.payload.rgb.subarray(4 * index, 4 * index + 3)], this.settings);
        if (mode.kind === 'normal') return normalColour(mode.channels.map((c) => node.payload.scalars.get(c.key)?.values[index] + c.base)) ?? plain;
        const stored = mode.channel ? node.payload.scalars.get(mode.channel.key)?.values[index] : this.shaderHeight(node, index);
        if (mode.kind !== 'level' && (stored === undefined || !hasValue(stored))) return plain;
        const { x, y } = this.renderer.points.uniforms.uMap.value;
        const at = (mode.kind === 'level' ? node.level : stored) * x + y;
        if (mode.kind === 'labels' && at < 0) return plain;
        const share = mode.kind === 'labels' ? at - Math.floor(at) : Math.max(0, Math.min(0.9999, at));
        const texel = 4 * Math.floor(share * 256);
        return [...this.renderer.points.uniforms.uPalette.value.image.data.subarray(texel, texel + 3)];
    }

    shaderHeight(node, index) {
        const up = this.renderer.points.uniforms.uUp.value.toArray();
        return up.reduce((sum, u, i) => sum + u * (node.payload.position[3 * index + i] + node.min[i]), 0);
    }

    filterChanged() {
        const { origin, stretch, scale } = this.dataset.meta;
        this.filter.space = { origin, stretch, scale, up: this.settings.up };
        this.filter.changed();
        this.needChannels();
        this.emit('filters');
        this.invalidate();
    }

    // The channels that nodes must bring along for the present colours and filters.
    needChannels() {
        if (this.loader) this.loader.channels = [...new Set([...channelsOf(this.mode), ...this.filter.channels])];
    }

    learnDomain({ key, range }) {
        if (!range) return;
        const known = this.domains.get(key);
        this.domains.set(key, known ? [Math.min(known[0], range[0]), Math.max(known[1], range[1])] : range);
    }

    // From the lowest to the highest value of a mode: as the metadata says, else of what is loaded.
    domainOf({ channel }) {
        if (!channel) return heightRange(this.dataset.meta.rest ?? this.dataset.meta.box, this.settings.up);
        const seen = this.domains.get(channel.key);
        const range = channel.range ?? seen?.map((v) => v * channel.scale + channel.shift);
        return range ? [...range].sort((a, b) => a - b) : [0, 1];
    }

    // Values of a mode in the coarsest nodes drawn: a fair sample of the whole. Hidden points count as well where `all` says so.
    sampleOf(mode, all = true) {
        const nodes = [...(this.selection?.draw ?? [])].sort((a, b) => a.level - b.level).slice(0, SAMPLE_NODES);
        return nodes.flatMap((node) => this.valuesIn(node, mode, all) ?? []);
    }

    // Turns the data so that one of its axes points up, and shows all of it.
    applyUp() {
        const { up } = this.settings;
        const { axis, sign } = upAxis(up);
        this.camera.frame = frameOf(up);
        if (!this.dataset?.meta) return;
        if (this.filter.ranges.delete('height')) this.filterChanged();
        const direction = [0, 0, 0];
        direction[axis] = sign / this.dataset.meta.stretch[axis];
        this.renderer.points.uniforms.uUp.value.set(...direction);
        this.ranges.delete('height');
        const height = this.modes.find((mode) => mode.name === 'height');
        height.label = up === 'z' ? 'Height' : `Height (${upName(up)})`;
        this.emit('modes');
        this.applyColours();
        if (this.dataset.root?.payload) this.learnRange(this.dataset.root);
        this.fit();
    }

    // How far apart points would be if all of them lay on a level surface of the extent of the data set.
    usualSpacing() {
        if (!this.box) return 1;
        const [a, b] = this.box.max.map((m, i) => m - this.box.min[i]).sort((x, y) => y - x);
        return Math.sqrt((a * (b || a)) / Math.max(1, this.dataset.meta.sourcePoints)) || 1;
    }

    applySizes() {
        const { settings, renderer } = this;
        const { uniforms } = renderer.points;
        const ratio = renderer.gl.getPixelRatio();
        const { sizing, pointSize } = settings;
        uniforms.uSizing.value = Sizing[sizing];
        uniforms.uPixelSize.value = sizing === 'fixed' ? 2 * pointSize * ratio : COVERAGE * pointSize * (sizing === 'distance' ? this.usualSpacing() : 1);
        const smallest = sizing !== 'fixed' ? minPointPixels(this.dataset?.meta?.sourcePoints ?? Infinity) * ratio : 1;
        uniforms.uSizeLimits.value.set(smallest, 48 * ratio);
    }

    // Changes some of the settings of DEFAULTS.
    configure(changes) {
        Object.assign(this.settings, changes);
        const { settings, renderer } = this;
        this.applySizes();
        renderer.eyeDomeStrength = settings.eyeDome;
        renderer.isAveraged = settings.averaged;
        renderer.points.uniforms.uTone.value.set(settings.brightness, settings.contrast, 1 / settings.gamma);
        this.camera.isOrthographic = settings.orthographic;
        if (this.loader) this.loader.cache.limitBytes = CACHE_BASE_BYTES + settings.budget * CACHE_BYTES_PER_BUDGET_POINT;
        if (this.box) renderer.setBoxes(settings.boundingBox ? [this.box] : []);
        if ('ramp' in changes && this.mode) this.applyColours();
        if ('up' in changes) this.applyUp();
        this.emit('settings');
        this.invalidate();
    }

    pickAt(x, y) {
        if (!this.selection) return null;
        const { camera, canvas } = this;
        const seen = camera.isOrthographic ? camera.halfHeight : Math.tan(camera.fovY / 2);
        const radius = (PICK_RADIUS_PIXELS * 2 * seen) / canvas.clientHeight;
        return pick(this.selection.draw, this.rayAt(x, y), radius, (node) => this.filter.hiddenIn(node));
    }

    // The point on the screen nearest to a place on the screen, or null.
    nearestAt(x, y) {
        if (!this.selection) return null;
        return nearestSeen(this.selection.draw, this.rayAt(x, y), this.camera.planes(), (node) => this.filter.hiddenIn(node));
    }

    // Where a drawn point is in the picture, in CSS pixels; null behind the eye.
    onScreen(point) {
        const { clientWidth, clientHeight } = this.canvas;
        const { x, y, depth } = this.camera.project(point);
        if (!this.camera.isOrthographic && depth < this.camera.nearest) return null;
        return [((x + 1) / 2) * clientWidth, ((1 - y) / 2) * clientHeight];
    }

    rayAt(x, y) {
        const { clientWidth, clientHeight } = this.canvas;
        return this.camera.rayThrough((2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight);
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
        const { draw = [], budgetReached = false } = this.selection ?? {};
        const pointsByLevel = sumByLevel(draw, (node) => this.filter.countVisible(node));
        return {
            pointsDrawn: pointsByLevel.reduce((sum, n) => sum + n, 0),
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
