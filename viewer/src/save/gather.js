// All points of a data set that a request keeps, read node by node from any web server, as a LAS file. The tree is a second one:
// that of the picture is left alone.
import { compile } from './selection.js';
import { datasetAt } from '../data/open_dataset.js';
import { hasValue } from '../data/decode.js';
import { LasFile } from './las_file.js';

const AT_ONCE = 6; // requests, as a browser has connections to one server
const MAX_BYTES = 1.5e9; // of records: more than a page has memory for

const meets = (node, { min, max }) => [0, 1, 2].every((k) => node.min[k] <= max[k] && node.min[k] + node.size[k] >= min[k]);

// The nodes whose cubes meet a box (as drawn) and that hold points of their own: of replacing levels those at the ends.
async function nodesIn(dataset, box, isReplacing, signal) {
    const found = [];
    const queue = dataset.root ? [dataset.root] : [];
    while (queue.length > 0) {
        signal.throwIfAborted();
        const node = queue.pop();
        if (!meets(node, box)) continue;
        while (node.proxy) await dataset.loadChunk(node, signal);
        const children = (node.children ?? []).filter(Boolean);
        if (node.numPoints > 0 && !(isReplacing && children.length > 0)) found.push(node);
        queue.push(...children);
    }
    return found.sort((a, b) => a.byteOffset - b.byteOffset);
}

function nodeOf({ steps, scalars }, channels, { scale, offset }) {
    const stored = new Map(scalars.map(({ key, values }) => [key.toLowerCase(), values]));
    const scaled = new Map();
    const values = (name) => {
        const key = name.toLowerCase();
        if (!scaled.has(key) && stored.has(key)) {
            const channel = channels.find((c) => c.key.toLowerCase() === key);
            scaled.set(key, stored.get(key).map((v) => (v === channel.noData || !hasValue(v) ? NaN : v * channel.scale + channel.shift)));
        }
        return scaled.get(key) ?? null;
    };
    const place = (i) => [0, 1, 2].map((k) => steps[3 * i + k] * scale[k] + offset[k]);
    const classes = stored.has('classification') ? Uint8Array.from(stored.get('classification')) : null;
    return { count: steps.length / 3, place, values, stored: (key) => stored.get(key.toLowerCase()), classes };
}

// cloud: a Cloud; channels: all its attributes, exact; signal: ends it; progress(share, points). Returns { blob, points }.
export async function gather(cloud, channels, request, signal, progress) {
    const { meta } = cloud.dataset;
    const compiled = compile(request);
    const missing = compiled.names.find((name) => !channels.some(({ key }) => key.toLowerCase() === name.toLowerCase()));
    if (missing) throw new Error(`there is no attribute "${missing}"`);
    const dataset = await datasetAt(cloud.dataset.url, cloud.dataset.pool, { frame: { origin: meta.origin, stretch: meta.stretch }, lonLat: meta.isLonLat }).open();
    const slack = meta.scale.map((s, i) => s * meta.stretch[i]); // a node's cube is rounded
    const box = { min: cloud.toLocal(compiled.bounds.min).map((c, i) => c - slack[i]), max: cloud.toLocal(compiled.bounds.max).map((c, i) => c + slack[i]) };
    const nodes = await nodesIn(dataset, box, cloud.scheme !== 'additive', signal);
    const las = dataset.hasRecords ? LasFile.like(dataset.head, meta) : LasFile.of(meta, channels);
    const results = new Array(nodes.length); // in the order of the file, whichever comes first
    let [next, done, size] = [0, 0, 0];
    const one = async (index) => {
        const node = nodes[index];
        const bytes = await dataset.fetchNodes(node.byteOffset, node.byteSize, signal);
        const taken = await dataset.take(node, bytes, channels);
        signal.throwIfAborted();
        results[index] = cut(nodeOf(taken, channels, meta), taken, compiled, las);
        size += results[index].byteLength;
        if (size > MAX_BYTES) throw new Error('these are more points than a page can hold: make the polygon smaller, or use "mote view" or "mote convert --polygon"');
        done++;
        progress(done / nodes.length);
    };
    const worker = async () => {
        while (next < nodes.length) await one(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    for (const records of results) las.add(records);
    return { blob: las.blob(), points: las.count };
}

const CLASS_AT = 16; // of a record of formats 6 to 10

// The records of the points of a node that are kept.
function cut(node, { raw, steps }, compiled, las) {
    if (compiled.usesClasses && !node.classes) throw new Error('there is no attribute "classification"');
    compiled.classify(node);
    const kept = compiled.keep(node);
    if (!raw) return las.records(kept, steps, (key) => node.stored(key), (name) => (name === 'classification' && node.classes ? node.classes : node.values(name)));
    const out = new Uint8Array(kept.length * las.recordBytes);
    kept.forEach((i, n) => {
        out.set(raw.subarray(i * las.recordBytes, (i + 1) * las.recordBytes), n * las.recordBytes);
        if (node.classes) out[n * las.recordBytes + CLASS_AT] = node.classes[i];
    });
    return out;
}
