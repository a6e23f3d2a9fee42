// Volumes and profiles of marks, from all points of the file that are inside and not filtered out, whatever is drawn. Until all
// have been read there is an estimate, of the coarse levels that come first.
//
//   entry { state: 'running', 'done', 'stopped' or 'failed', done, total: points read and to read, result, error }
//   result of a volume   { above, below, area, points, empty, draped: corners that got the height of the nearest point }
//   result of a profile  { length, parts: [{ node, indices, along, aside }], points }, where node has what colours need of the points
import { gather } from '../data/gather.js';
import { channelsOf } from '../view/colouring.js';
import { upAxis } from '../view/up_axis.js';
import { Measurer, measuringModule } from './measurer.js';
import { ringsOf } from './marks.js';
import { unitsOf } from './units.js';
import { t } from '../texts/texts.js';

const START_MS = 150; // after the last change: a corner may be on its way
const ESTIMATE_MS = 300; // between two estimates,
const ESTIMATE_SHARE = 5; // or so many times what one takes
const MAX_RUNNING = 2; // at once: each has requests of its own
const MAX_PROFILE_POINTS = 2e7; // what a page holds

// The rectangle of positions as drawn, endless in height, as bounds of nodes.
function reach(points, up, margin) {
    const [min, max] = [Math.min, Math.max].map((f) => [0, 1, 2].map((i) => f(...points.map((p) => p[i]))));
    for (let i = 0; i < 3; i++) [min[i], max[i]] = i === up ? [-Infinity, Infinity] : [min[i] - margin, max[i] + margin];
    return { min, max };
}

// How far a rectangle's middle may be from a leg for it to reach into the strip.
function isNearPath(node, path, half, level) {
    const middle = level.map((i) => node.min[i] + node.size[i] / 2);
    const radius = Math.hypot(...level.map((i) => node.size[i])) / 2 + half;
    return path.slice(1).some((to, k) => {
        const from = path[k];
        const way = level.map((i) => to[i] - from[i]);
        const off = level.map((i, j) => middle[j] - from[i]);
        const t = Math.max(0, Math.min(1, (way[0] * off[0] + way[1] * off[1]) / (way[0] ** 2 + way[1] ** 2 || 1)));
        return Math.hypot(off[0] - t * way[0], off[1] - t * way[1]) <= radius;
    });
}

// Whether a node may hold points of a mark; a little more than its borders, as points are rounded to their steps.
function touching(cloud, mark, up) {
    const { scale, stretch } = cloud.dataset.meta;
    const slack = 2 * Math.max(...scale.map((s, i) => s * stretch[i])) + 1e-9;
    const path = mark.points.map((p) => cloud.toLocal(p));
    const half = mark.kind === 'profile' ? mark.width / 2 : 0;
    const { min, max } = reach(path, up, half + slack);
    const level = [0, 1, 2].filter((i) => i !== up);
    return (node) => level.every((i) => node.min[i] <= max[i] && node.min[i] + node.size[i] >= min[i]) && (mark.kind !== 'profile' || isNearPath(node, path, half + slack, level));
}

// A node as filters and colours see it, which the picture does not know.
function asNode(cloud, node, { position, box, rgb, scalars }) {
    const payload = { position, box, rgb, scalars: new Map(scalars.map((scalar) => [scalar.key, scalar])) };
    const { name, level, min, numPoints, byteOffset, byteSize } = node;
    return { cloud, name, level, min, numPoints, byteOffset, byteSize, payload };
}

// The values of some points, out of an array of a node.
function pick(values, indices, width) {
    const out = new values.constructor(width * indices.length);
    for (let i = 0; i < indices.length; i++) for (let k = 0; k < width; k++) out[width * i + k] = values[width * indices[i] + k];
    return out;
}

function partOf(node, steps, { indices, along, aside }) {
    const { position, rgb, scalars } = node.payload;
    const payload = {
        position: pick(position, indices, 3), rgb: rgb && pick(rgb, indices, 4),
        scalars: new Map([...scalars].map(([key, scalar]) => [key, { ...scalar, values: pick(scalar.values, indices, 1) }])),
    };
    return { node: { ...node, payload }, steps: pick(steps, indices, 3), indices, along, aside };
}

export class Survey extends EventTarget {
    constructor(viewer) {
        super();
        this.viewer = viewer;
        this.entries = new Map(); // id of a mark -> entry
        this.waiting = []; // entries, while others are measured
        this.running = 0;
        this.ready = null; // a Measurer for what needs no points,
        this.isAsked = false; // which loads with the first mark, or after the first picture
        viewer.addEventListener('firstpicture', () => this.measurer, { once: true });
        viewer.addEventListener('replaced', () => this.changed());
    }

    // null until it is there.
    get measurer() {
        if (!this.isAsked) {
            this.isAsked = true;
            measuringModule().then((module) => {
                this.ready = new Measurer(module, {});
                this.changed();
            }, () => {}); // told with the first figure that needs it
        }
        return this.ready;
    }

    changed() {
        this.dispatchEvent(new CustomEvent('change'));
    }

    // What a result depends on.
    keyOf(mark) {
        const { viewer } = this;
        const clouds = viewer.shownClouds.map(({ dataset, filter, mode }) => [dataset.folder, filter.isActive && filter.version, mark.kind === 'profile' && mode.name]);
        return JSON.stringify([mark.kind, ringsOf(mark), mark.width, mark.base, viewer.settings.up, viewer.settings.coordinates, clouds]);
    }

    // The entry of a mark, begun where there is none of what it is now.
    of(mark) {
        const key = this.keyOf(mark);
        const known = this.entries.get(mark.id);
        if (known?.key === key) return known;
        known?.abort.abort();
        return this.begin(mark, key, START_MS);
    }

    begin(mark, key, delay) {
        const entry = { key, mark: structuredClone(mark), state: 'running', done: 0, total: 0, result: null, error: '', abort: new AbortController() };
        this.entries.set(mark.id, entry);
        setTimeout(() => {
            this.waiting.push(entry);
            this.pump();
        }, delay);
        return entry;
    }

    pump() {
        while (this.waiting.length > 0 && this.running < MAX_RUNNING) {
            const entry = this.waiting.shift();
            if (entry.abort.signal.aborted) continue;
            this.running++;
            this.run(entry).finally(() => {
                this.running--;
                this.pump();
            });
        }
    }

    stop(id) {
        const entry = this.entries.get(id);
        if (entry?.state !== 'running') return;
        entry.state = 'stopped';
        entry.abort.abort();
        this.changed();
    }

    again(id) {
        const entry = this.entries.get(id);
        if (!entry || entry.state === 'running') return;
        this.begin({ ...entry.mark, id }, entry.key, 0);
        this.changed();
    }

    // Forgets marks that are gone. ids: of those that are there
    keep(ids) {
        for (const [id, entry] of this.entries) {
            if (ids.has(id)) continue;
            entry.abort.abort();
            this.entries.delete(id);
        }
    }

    async run(entry) {
        const { signal } = entry.abort;
        try {
            await this.measure(entry, signal);
            signal.throwIfAborted();
            const sampled = this.viewer.shownClouds.filter(({ dataset }) => dataset.making);
            entry.done = entry.total;
            // Of a sample it stays an estimate until the octree is there, with which it is measured anew.
            entry.total += sampled.reduce((sum, { dataset: { meta } }) => sum + meta.sourcePoints - meta.points, 0);
            if (sampled.length === 0) entry.state = 'done';
        } catch (error) {
            if (signal.aborted) return;
            entry.state = 'failed';
            entry.error = error.message;
        }
        this.changed();
    }

    async measure(entry, signal) {
        const { viewer } = this;
        const { mark } = entry;
        const up = upAxis(viewer.settings.up);
        const measurer = new Measurer(await measuringModule(), unitsOf(viewer.space, viewer.settings.coordinates));
        measurer.setUp(up);
        measurer.shape(ringsOf(mark), mark.kind === 'profile');
        const work = mark.kind === 'profile' ? this.profileOf(entry, measurer) : this.volumeOf(entry, measurer);
        if (work.look) {
            await this.readAll(entry, measurer, { add: work.look, told: () => {} }, up, signal);
            work.looked();
        }
        await this.readAll(entry, measurer, work, up, signal);
        entry.result = work.result();
    }

    // Gives all points that may be of a mark to work.add(node, steps, isHidden).
    async readAll(entry, measurer, work, up, signal) {
        const { viewer } = this;
        const { mark } = entry;
        let before = 0;
        for (const cloud of viewer.shownClouds) {
            measurer.setSteps(cloud.dataset.meta);
            const channels = [...new Set([...cloud.filter.channels, ...(mark.kind === 'profile' ? channelsOf(cloud.mode) : [])])];
            let total = 0;
            await gather(cloud, touching(cloud, mark, up.axis), {
                signal,
                read: (node, bytes) => cloud.dataset.decode(node, bytes, channels, true, true),
                use: (node, result) => {
                    const own = asNode(cloud, node, result);
                    work.add(own, result.steps, cloud.filter.hiddenIn(own));
                },
                told: (done, all) => {
                    total = all;
                    Object.assign(entry, { done: before + done, total: before + all });
                    work.told();
                },
            });
            before += total;
        }
    }

    // A figure of what has been read so far, now and then; also where nothing more comes for long.
    estimates(entry, figure) {
        let last = performance.now();
        let pause = ESTIMATE_MS;
        let timer = 0;
        const show = () => {
            timer = 0;
            if (entry.state !== 'running' || entry.abort.signal.aborted) return;
            const begin = performance.now();
            entry.result = figure();
            last = performance.now();
            pause = Math.max(ESTIMATE_MS, ESTIMATE_SHARE * (last - begin));
            this.changed();
        };
        return () => {
            if (entry.done > 0) timer ||= setTimeout(show, Math.max(0, last + pause - performance.now()));
        };
    }

    volumeOf(entry, measurer) {
        const needsHeights = measurer.startVolume(entry.mark.base ?? 'plane');
        let draped = 0;
        const result = () => ({ ...measurer.volume(), draped });
        const first = { look: (_, steps, isHidden) => measurer.lookAt(steps, isHidden), looked: () => (draped = measurer.drape()) };
        return { ...(needsHeights ? first : {}), add: (_, steps, isHidden) => measurer.addToVolume(steps, isHidden), told: this.estimates(entry, result), result };
    }

    profileOf(entry, measurer) {
        const length = measurer.startProfile(entry.mark.width);
        const parts = [];
        let points = 0;
        const result = () => ({ length, parts: [...parts], points });
        const add = (node, steps, isHidden) => {
            const found = measurer.addToProfile(steps, isHidden);
            if (found.indices.length > 0) parts.push(partOf(node, steps, found));
            points += found.indices.length;
            if (points > MAX_PROFILE_POINTS) throw new Error(t('survey.many', { n: MAX_PROFILE_POINTS / 1e6 }));
        };
        return { add, told: this.estimates(entry, result), result };
    }
}
