// An open data set: metadata, the tree as far as it is known, and how a node gets its points. This one is a Potree 2.0
// folder; copc/copc_dataset.js is another.
import { parseMetadata } from './metadata.js';
import { withDecidedUnits } from './units_module.js';
import { checkChunk, createRoot, parseChunk } from './hierarchy.js';
import { told } from './errors.js';
import { fetchJson, fetchRange } from './fetcher.js';

// Asked for before metadata.json says how long the first chunk is; holds 2978 nodes, which is nearly always enough.
const FIRST_GUESS_BYTES = 64 * 1024;

// Whether an address names one file, not a folder.
export const isFile = (url) => /\.la[sz]$/i.test(new URL(url).pathname);

// 'data' and '/x/data/' both name a folder; what ends in .laz is a COPC file, and keeps its query, which may be a signature.
export function dataUrl(text, page) {
    let url;
    try {
        url = new URL(text || 'data/', page);
    } catch {
        throw told(Error, 'address.none', { text });
    }
    if (!/^https?:$/.test(url.protocol)) throw told(Error, 'address.scheme', { scheme: url.protocol });
    url.hash = '';
    url.username = url.password = '';
    if (isFile(url.href)) return url.href;
    url.search = '';
    url.pathname = url.pathname.replace(/metadata\.json$/, '');
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    return url.href;
}

// The two requests that need nothing but the address. They travel at the same time.
export const startPotree = (url) => ({
    metadata: fetchJson(url + 'metadata.json'),
    hierarchy: fetchRange(url + 'hierarchy.bin', 0, FIRST_GUESS_BYTES, { orLess: true }),
});

// making: what the server says of an octree that it is still making (preview.js): until then there is a sample of its points,
// at an address of its own. All else knows the data set by the address of the octree.
export class Dataset {
    constructor(url, pool, options = {}) {
        this.url = url;
        this.making = options.making ?? null;
        this.folder = this.making ? new URL(this.making.preview, url).href : url;
        this.pool = pool;
        this.forceWasm = Boolean(options.forceWasm);
        this.lonLat = options.lonLat ?? null;
        this.frame = options.frame ?? null;
        this.meta = null;
        this.root = null;
        this.nodeCount = 0;
        this.autoExposure = true; // dark colours are drawn brighter
        this.rootSeen = null; // a promise, while the exposure is not known
    }

    async open(requests = startPotree(this.folder)) {
        this.meta = parseMetadata(await withDecidedUnits(await requests.metadata), this.lonLat, null, this.frame);
        const root = createRoot(this.meta);
        const size = this.meta.firstChunkSize;
        if (this.meta.points === 0 && size === 0) return this;
        checkChunk(root);
        let bytes = await requests.hierarchy;
        if (size <= bytes.byteLength) bytes = bytes.slice(0, size);
        else bytes = await fetchRange(this.folder + 'hierarchy.bin', 0, size);
        this.nodeCount += parseChunk(root, new Uint8Array(bytes));
        this.root = root;
        return this;
    }

    async loadChunk(node, signal) {
        checkChunk(node);
        const { offset, size } = node.proxy;
        const bytes = await fetchRange(this.folder + 'hierarchy.bin', offset, size, { signal });
        this.nodeCount += parseChunk(node, new Uint8Array(bytes));
    }

    fetchNodes(offset, size, signal, again = false) {
        return fetchRange(this.folder + 'octree.bin', offset, size, { signal, again });
    }

    // What a worker needs to know to decode a node.
    jobOf(node, channels, geometry) {
        const { meta } = this;
        return {
            name: node.name,
            file: 'octree.bin',
            encoding: meta.encoding,
            layout: meta.layout,
            numPoints: node.numPoints,
            scale: meta.scale.map((s, axis) => s * meta.stretch[axis]),
            shift: meta.offset.map((o, axis) => (o - meta.origin[axis]) * meta.stretch[axis] - node.min[axis]),
            rgbShift: meta.rgbShift,
            exposure: meta.exposure,
            autoExposure: this.autoExposure,
            channels,
            geometry,
            forceWasm: this.forceWasm,
        };
    }

    // Decodes a node's bytes; `geometry` false asks for the channels alone, `steps` true for the file's own integers, too.
    async decode(node, bytes, channels, geometry, steps = false) {
        const { meta, root } = this;
        if (geometry && meta.exposure === null && node !== root) await (this.rootSeen ??= this.lookAtRoot());
        const run = this.pool.run({ ...this.jobOf(node, channels, geometry), steps }, bytes);
        if (geometry && meta.exposure === null && node === root) this.rootSeen ??= this.learnExposure(run);
        const result = await run;
        meta.rgbShift = result.rgbShift;
        return result;
    }

    // The root is a sample of all points, so it decides for every node, whichever comes first. Where it cannot be read,
    // colours are drawn as they are.
    async learnExposure(run) {
        const { exposure } = await run.catch(() => ({ exposure: 1 }));
        this.meta.exposure ??= exposure;
    }

    async lookAtRoot() {
        const { root, pool } = this;
        const read = async () => {
            const bytes = root.byteSize > 0 ? await this.fetchNodes(root.byteOffset, root.byteSize) : new ArrayBuffer(0);
            return pool.run(this.jobOf(root, [], true), bytes);
        };
        await this.learnExposure(read());
    }

    // A node's coordinates as whole steps and channels as they are stored; of LAS its records, too.
    async take(node, bytes, channels) {
        return this.pool.run({ ...this.jobOf(node, channels, false), steps: true, raw: this.hasRecords }, bytes);
    }

    get hasRecords() {
        return false;
    }
}
