// Points of all that a file has, by a server that can cut them out (`mote view` on this machine) or node by node in the page.
import { exactChannels } from '../data/attributes.js';
import { hasValue } from '../data/decode.js';
import { gather } from '../data/gather.js';
import { numberOnServer, serverTools } from '../data/strip.js';
import { measuringModule } from '../measure/measurer.js';
import { LasFile } from './las_file.js';
import { compile } from './selection.js';
import { t } from '../texts/texts.js';

const ASK_MS = 500;
const MAX_BYTES = 1.5e9; // of records: more than a page has memory for
const CLASS_AT = 16; // of a record of formats 6 to 10

// How many points a LAS or LAZ file says that it has.
export async function pointsIn(blob) {
    const view = new DataView(await blob.slice(0, 375).arrayBuffer());
    return view.getUint8(25) >= 4 ? Number(view.getBigUint64(247, true)) : view.getUint32(107, true);
}

// Has the server cut points out, as LAZ; null where it cannot.
async function cutByServer(cloud, request, signal, progress) {
    const number = numberOnServer(cloud);
    if (!number || !(await serverTools()).includes('cut')) return null;
    const asking = setInterval(async () => {
        const { done } = await fetch('cut').then((r) => r.json()).catch(() => ({}));
        if (done !== undefined) progress(done);
    }, ASK_MS);
    try {
        const answer = await fetch(`cut/${number}`, { method: 'POST', body: JSON.stringify(request), signal });
        if (answer.status === 503) throw new Error(t('save.busy'));
        if (!answer.ok) throw new Error((await answer.text()).trim());
        const blob = await answer.blob();
        return { blob, points: await pointsIn(blob), ending: 'laz' };
    } finally {
        clearInterval(asking);
    }
}

// ---- in the page

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

// The records of the points of a node that are kept.
function recordsOf(node, { raw, steps }, compiled, las) {
    if (compiled.usesClasses && !node.classes) throw new Error(t('save.attribute', { name: 'classification' }));
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

// Node by node, from any web server, as LAS: { blob, points, ending }.
async function cutHere(cloud, request, signal, progress) {
    const { dataset } = cloud;
    const { meta } = dataset;
    const channels = exactChannels(meta);
    const compiled = compile(request, await measuringModule());
    const missing = compiled.names.find((name) => !channels.some(({ key }) => key.toLowerCase() === name.toLowerCase()));
    if (missing) throw new Error(t('save.attribute', { name: missing }));
    const slack = meta.scale.map((s, i) => s * meta.stretch[i]); // a node's cube is rounded
    const [min, max] = [cloud.toLocal(compiled.bounds.min).map((c, i) => c - slack[i]), cloud.toLocal(compiled.bounds.max).map((c, i) => c + slack[i])];
    const las = dataset.hasRecords ? LasFile.like(dataset.head, meta.stored) : LasFile.of({ ...meta, ...meta.stored }, channels);
    const parts = []; // { at: in the file, records }: they come in any order
    let bytes = 0;
    await gather(cloud, (node) => [0, 1, 2].every((k) => node.min[k] <= max[k] && node.min[k] + node.size[k] >= min[k]), {
        signal,
        read: (node, own) => dataset.take(node, own, channels),
        use: (node, taken) => {
            const records = recordsOf(nodeOf(taken, channels, meta), taken, compiled, las);
            bytes += records.byteLength;
            if (bytes > MAX_BYTES) throw new Error(t('save.many'));
            parts.push({ at: node.byteOffset, records });
        },
        told: (done, total) => progress(done / Math.max(1, total)),
    });
    for (const { records } of parts.sort((a, b) => a.at - b.at)) las.add(records);
    return { blob: las.blob(), points: las.count, ending: 'las' };
}

// request: of requestOf(); signal: ends it; progress(share). Returns { blob, points, ending }.
export async function cutPoints(cloud, request, signal, progress) {
    if (cloud.dataset.making) throw new Error(t('making.wait'));
    const cut = await cutByServer(cloud, request, signal, progress);
    return cut ?? cutHere(cloud, request, signal, progress);
}
