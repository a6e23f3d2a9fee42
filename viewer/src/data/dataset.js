// An open Potree 2.0 folder: metadata, the tree as far as it is known, and how a node gets its points.
import { parseMetadata } from './metadata.js';
import { checkChunk, createRoot, parseChunk } from './hierarchy.js';
import { fetchJson, fetchRange } from './fetcher.js';

// Asked for before metadata.json says how long the first chunk is; holds 2978 nodes, which is nearly always enough.
const FIRST_GUESS_BYTES = 64 * 1024;

// 'data' and '/x/data/' both name a folder.
export function dataUrl(text, page) {
    const url = new URL(text || 'data/', page);
    if (url.origin !== new URL(page).origin)
        throw new Error(`The data must come from the same server as this page, not from ${url.origin}.`);
    url.search = '';
    url.hash = '';
    url.pathname = url.pathname.replace(/metadata\.json$/, '');
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    return url.href;
}

// The two requests that need nothing but the address. They travel at the same time.
export function startRequests(url) {
    const requests = {
        metadata: fetchJson(url + 'metadata.json'),
        hierarchy: fetchRange(url + 'hierarchy.bin', 0, FIRST_GUESS_BYTES, { orLess: true }),
    };
    for (const request of Object.values(requests)) request.catch(() => {}); // open() reports it
    return requests;
}

export class Dataset {
    constructor(url, pool, options = {}) {
        this.url = url;
        this.pool = pool;
        this.forceWasm = Boolean(options.forceWasm);
        this.lonLat = options.lonLat ?? null;
        this.meta = null;
        this.root = null;
        this.nodeCount = 0;
    }

    async open(requests = startRequests(this.url)) {
        this.meta = parseMetadata(await requests.metadata, this.lonLat);
        const root = createRoot(this.meta);
        const size = this.meta.firstChunkSize;
        if (this.meta.points === 0 && size === 0) return this;
        checkChunk(root);
        let bytes = await requests.hierarchy;
        if (size <= bytes.byteLength) bytes = bytes.slice(0, size);
        else bytes = await fetchRange(this.url + 'hierarchy.bin', 0, size);
        this.nodeCount += parseChunk(root, new Uint8Array(bytes));
        this.root = root;
        return this;
    }

    async loadChunk(node, signal) {
        checkChunk(node);
        const { offset, size } = node.proxy;
        const bytes = await fetchRange(this.url + 'hierarchy.bin', offset, size, { signal });
        this.nodeCount += parseChunk(node, new Uint8Array(bytes));
    }

    fetchNodes(offset, size, signal) {
        return fetchRange(this.url + 'octree.bin', offset, size, { signal });
    }

    // Decodes a node's bytes; `geometry` false asks for the channels alone.
    async decode(node, bytes, channels, geometry) {
        const { meta } = this;
        const job = {
            name: node.name,
            encoding: meta.encoding,
            layout: meta.layout,
            numPoints: node.numPoints,
            scale: meta.scale.map((s, axis) => s * meta.stretch[axis]),
            shift: meta.offset.map((o, axis) => (o - meta.origin[axis]) * meta.stretch[axis] - node.min[axis]),
            rgbShift: meta.rgbShift,
            channels,
            geometry,
            forceWasm: this.forceWasm,
        };
        const result = await this.pool.run(job, bytes);
        meta.rgbShift = result.rgbShift;
        return result;
    }
}
