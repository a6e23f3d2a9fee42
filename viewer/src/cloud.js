// One cloud of the picture: its data set, its colours, its filters, and which of its nodes are drawn.
import { openDataset } from './data/open_dataset.js';
import { NodeLoader } from './data/loader.js';
import { exactChannels } from './data/attributes.js';
import { hasValue } from './data/decode.js';
import { restOf } from './data/rest.js';
import { channelsOf, channelValues, colourModes, defaultMode, hasTails, isBlack, paletteMap, quantileRange, sourceOf } from './view/colouring.js';
import { PointFilter, RETURNS } from './view/point_filter.js';
import { Sizing } from './view/point_material.js';
import { classTexels, labelTexels, levelTexels, rampTexels } from './view/palettes.js';
import { toned } from './view/tone.js';
import { heightRange, upAxis, upName } from './view/up_axis.js';
import { t } from './texts/texts.js';

const SAMPLE_NODES = 12; // that tell how values are distributed
const SAMPLE_POINTS = 1000; // of a node that tells the range of a channel
const MAX_POINT_PIXELS = 96; // zoomed far in
const COVERAGE = 1.7; // point size over point distance at which randomly sampled surfaces look closed

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

const nothing = () => ({ draw: [], keep: [], wanted: [], chunks: [], points: 0, budgetReached: false });

export class Cloud {
    // points: the PointScene that draws it; settings: those of the viewer; events { emit(type, detail), invalidate(urgent) }
    constructor(points, settings, events) {
        Object.assign(this, { points, settings, events });
        this.dataset = null;
        this.selection = nothing();
        this.isShown = true;
        this.modes = [];
        this.mode = null;
        this.ranges = new Map(); // mode name -> [low, high]
        this.filter = new PointFilter(null);
        this.domains = new Map(); // key of a channel -> [low, high] of what is loaded
        this.loader = null;
        this.reclassify = null; // gives the points of a node that has arrived other classes
        this.moreChannels = []; // that it needs
        this.box = this.rest = null; // as drawn
    }

    emit(type, detail) {
        this.events.emit(type, detail);
    }

    invalidate(urgent = true) {
        this.events.invalidate(urgent);
    }

    async open(url, pool, options, cacheBytes) {
        this.takeDataset(await openDataset(url, pool, options));
        const { meta } = this.dataset;
        this.modes = colourModes(meta);
        this.filter = filterOf(meta);
        this.points.filter = this.filter;
        this.loader = this.loaderOf(this.dataset, cacheBytes, this.loaderEvents());
        this.setMode(defaultMode(meta, this.modes).name);
        this.applyUp();
        this.applyExposure();
        return this;
    }

    takeDataset(dataset) {
        const { meta, root } = dataset;
        this.dataset = dataset;
        if (root) root.owner = this;
        this.scheme = meta.scheme;
        this.box = { min: this.toLocal(meta.box.min), max: this.toLocal(meta.box.max) };
        if (!meta.rest && root) meta.rest = this.findRest(root);
        this.rest = meta.rest && { min: this.toLocal(meta.rest.min), max: this.toLocal(meta.rest.max) };
    }

    loaderOf(dataset, cacheBytes, events) {
        const loader = new NodeLoader(dataset, cacheBytes, events);
        loader.eager = dataset.meta.channels.filter((c) => /^(intensity|classification)$/i.test(c.key));
        return loader;
    }

    loaderEvents() {
        return {
            onNode: (node, fresh) => this.nodeArrived(node, fresh),
            onDrop: (node) => this.points.removeNode(node),
            onError: (message) => this.emit('error', message),
            onOffline: (message) => this.emit('offline', message),
            onChange: () => this.invalidate(false),
        };
    }

    // How another data set with the same attributes is shown as this one is: { modes, mode, filter, moreChannels }.
    lookOf({ meta }) {
        const modes = colourModes(meta);
        const filter = filterOf(meta);
        filter.hideAs(this.filter, new Map(modes.map(({ name, channel }) => [name, channel])));
        const moreChannels = this.moreChannels.map(({ key }) => meta.channels.find((c) => c.key === key)).filter(Boolean);
        return { modes, mode: modes.find(({ name }) => name === this.mode.name) ?? defaultMode(meta, modes), filter, moreChannels };
    }

    // Goes over to another data set of the same space: camera, colours and what is hidden stay. loader: of that data set, with
    // the nodes that have arrived.
    replace(dataset, look, loader, nodes) {
        if (this.mode.kind === 'ramp' && look.mode.name === this.mode.name) this.ranges.set(this.mode.name, this.range());
        this.loader.close();
        this.takeDataset(dataset);
        Object.assign(this, look, { loader, domains: new Map() });
        this.points.filter = this.filter;
        this.points.setSource(sourceOf(this.mode), channelsOf(this.mode));
        this.needChannels();
        loader.events = this.loaderEvents();
        for (const node of nodes) this.nodeArrived(node, true);
        this.applyColours();
        this.applyExposure();
    }

    // Dark colours are drawn brighter, or as they are, from now on.
    applyExposure() {
        const { dataset, settings } = this;
        if (!dataset?.meta || dataset.autoExposure === settings.autoExposure) return;
        dataset.autoExposure = settings.autoExposure;
        if (dataset.meta.exposure !== 1) this.loader.reload();
    }

    findRest(root) {
        const rest = restOf(root);
        return rest && { min: this.toWorld(rest.min), max: this.toWorld(rest.max) };
    }

    close() {
        this.loader?.close();
        this.points.show([], { additive: false });
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
    toSteps(p) {
        const { scale, offset } = this.dataset.meta;
        return this.toWorld(p).map((c, i) => Math.round((c - offset[i]) / scale[i]));
    }

    toSource(p) {
        const { scale, offset } = this.dataset.meta;
        return this.toSteps(p).map((n, i) => n * scale[i] + offset[i]);
    }

    // What selectTogether() is to choose from.
    get tree() {
        return { root: this.isShown ? this.dataset.root : null, scheme: this.scheme };
    }

    // The nodes of the present view.
    take(selection) {
        this.selection = selection;
        this.loader.update(selection);
    }

    // Draws these nodes in the next frame. order: of this cloud among others.
    show(nodes, order) {
        this.points.show(nodes, { additive: this.scheme === 'additive', spacing: this.drawnSpacing(), order });
    }

    // Cells of degrees and metres are no cubes on the ground: there the points drawn share the area of the whole.
    drawnSpacing() {
        if (!this.dataset.meta.isLonLat) return null;
        const [width, length] = this.box.max.map((m, i) => m - this.box.min[i]);
        return Math.sqrt((width * length) / Math.max(1, this.selection.points)) || null;
    }

    nodeArrived(node, fresh) {
        const isRoot = node === this.dataset.root;
        if (isRoot && fresh) this.learnColours(node);
        if (isRoot || this.rest || !this.ranges.has(this.mode.name)) this.learnRange(node);
        for (const scalar of node.payload.scalars.values()) this.learnDomain(scalar);
        this.reclassify?.(node);
        if (this.filter.learn(node)) this.emit('classes');
        this.points.addNode(node);
        if (fresh && isRoot) {
            this.emit('root');
            this.emit('colours'); // whether they are dark is known now
        }
    }

    // Where the metadata does not say whether there are colours, those of the root do.
    learnColours(root) {
        const { rgb } = this.dataset.meta.layout;
        if (!rgb || rgb.max.length > 0 || !isBlack(root.payload)) return;
        this.modes = this.modes.filter((mode) => mode.kind !== 'rgb');
        if (this.mode.kind === 'rgb') this.setMode('height');
        this.emit('modes');
    }

    // From the 1st to the 99th percentile of the first node's values: a few outliers would leave all others one colour.
    learnRange(node) {
        const { mode } = this;
        if (mode.kind !== 'ramp') return;
        if (this.rest) this.widenRange(node);
        if (this.rest || this.ranges.has(mode.name)) return;
        const full = mode.channel ? mode.channel.range : this.domainOf(mode);
        if (full && node !== this.dataset.root) return; // only the root is a sample of the whole
        const values = this.valuesIn(node);
        const range = values && quantileRange(values);
        if (!range || (full && !/^intensity$/i.test(mode.name) && !hasTails(full, range))) return;
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
        if (!mode) throw new Error(t('mode.unknown', { name, modes: this.modes.map((m) => m.name).join(', ') }));
        this.mode = mode;
        this.needChannels();
        this.points.setSource(sourceOf(mode), channelsOf(mode));
        if (this.dataset.root?.payload) this.learnRange(this.dataset.root);
        this.applyColours();
    }

    applyColours() {
        const { mode } = this;
        const uniforms = this.points.uniforms;
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

    // All attributes of a node's points as the file has them: [{ key, channel, values }].
    async exactValues(node) {
        const channels = exactChannels(this.dataset.meta);
        const bytes = node.byteSize > 0 ? await this.dataset.fetchNodes(node.byteOffset, node.byteSize) : new ArrayBuffer(0);
        const { scalars } = await this.dataset.decode(node, bytes, channels, false);
        return scalars.map(({ key, values }, i) => ({ key, channel: channels[i], values: values.map((v) => v * channels[i].scale + channels[i].shift) }));
    }

    // All attributes of a point: [{ key, channel, value }].
    async attributesOf(node, index) {
        return (await this.exactValues(node)).map(({ key, channel, values }) => ({ key, channel, value: values[index] }));
    }

    // The colour of a point as it is drawn: [red, green, blue] of 255.
    colourAt(node, index) {
        const { mode } = this;
        const plain = [140, 153, 168];
        if (mode.kind === 'rgb') return toned([...node.payload.rgb.subarray(4 * index, 4 * index + 3)], this.settings);
        if (mode.kind === 'normal') return normalColour(mode.channels.map((c) => node.payload.scalars.get(c.key)?.values[index] + c.base)) ?? plain;
        const stored = mode.channel ? node.payload.scalars.get(mode.channel.key)?.values[index] : this.shaderHeight(node, index);
        if (mode.kind !== 'level' && (stored === undefined || !hasValue(stored))) return plain;
        const { x, y } = this.points.uniforms.uMap.value;
        const at = (mode.kind === 'level' ? node.level : stored) * x + y;
        if (mode.kind === 'labels' && at < 0) return plain;
        const share = mode.kind === 'labels' ? at - Math.floor(at) : Math.max(0, Math.min(0.9999, at));
        const texel = 4 * Math.floor(share * 256);
        return [...this.points.uniforms.uPalette.value.image.data.subarray(texel, texel + 3)];
    }

    shaderHeight(node, index) {
        const up = this.points.uniforms.uUp.value.toArray();
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
        if (this.loader) this.loader.channels = [...new Set([...channelsOf(this.mode), ...this.filter.channels, ...this.moreChannels])];
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

    // The axis that points up has changed.
    applyUp() {
        const { up } = this.settings;
        const { axis, sign } = upAxis(up);
        if (this.filter.ranges.delete('height')) this.filterChanged();
        const direction = [0, 0, 0];
        direction[axis] = sign / this.dataset.meta.stretch[axis];
        this.points.uniforms.uUp.value.set(...direction);
        this.ranges.delete('height');
        const height = this.modes.find((mode) => mode.name === 'height');
        height.label = up === 'z' ? t('mode.height') : `${t('mode.height')} (${upName(up)})`;
        this.emit('modes');
        this.applyColours();
        if (this.dataset.root?.payload) this.learnRange(this.dataset.root);
    }

    // How far apart points would be if all of them lay on a level surface of the extent of the data set.
    usualSpacing() {
        if (!this.box) return 1;
        const [a, b] = this.box.max.map((m, i) => m - this.box.min[i]).sort((x, y) => y - x);
        return Math.sqrt((a * (b || a)) / Math.max(1, this.dataset.meta.sourcePoints)) || 1;
    }

    // ratio: of the pixels of the screen to those of CSS.
    applySizes(ratio) {
        const { settings } = this;
        const { uniforms } = this.points;
        const { sizing, pointSize } = settings;
        uniforms.uSizing.value = Sizing[sizing];
        uniforms.uPixelSize.value = sizing === 'fixed' ? 2 * pointSize * ratio : COVERAGE * pointSize * (sizing === 'distance' ? this.usualSpacing() : 1);
        const smallest = sizing !== 'fixed' ? minPointPixels(this.dataset?.meta?.sourcePoints ?? Infinity) * ratio : 1;
        uniforms.uSizeLimits.value.set(smallest, MAX_POINT_PIXELS * ratio);
        uniforms.uTone.value.set(settings.brightness, settings.contrast, 1 / settings.gamma);
    }
}
