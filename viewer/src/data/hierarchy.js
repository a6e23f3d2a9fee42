// The octree as it stands in hierarchy.bin: records of 22 bytes in breadth-first chunks, joined by proxies.
import { DataError, told } from './errors.js';

export const RECORD_BYTES = 22;
const PROXY = 2;
const MAX_LEVEL = 48; // a double halves 48 times before node boxes lose their meaning
const MAX_CHUNK_BYTES = 256 * 1024 * 1024;

export const State = Object.freeze({ EMPTY: 0, LOADING: 1, READY: 2, FAILED: 3 });

export class Node {
    constructor(name, level, min, size, spacing, parent) {
        this.name = name;
        this.level = level;
        this.min = min; // relative to the corner of the data set's cube, so that doubles and floats stay exact
        this.size = size;
        this.spacing = spacing;
        this.parent = parent;
        this.children = null; // 8 entries once known to be an inner node
        this.numPoints = 0;
        this.byteOffset = 0;
        this.byteSize = 0;
        this.proxy = null; // { offset, size } of a chunk that is not read yet
        this.chunk = null; // the chunk this node was read from, to find loops
        this.state = State.EMPTY;
        this.chunkState = State.EMPTY;
        this.payload = null; // decoded arrays
    }

    // The cloud that it belongs to.
    get cloud() {
        let node = this;
        while (node.parent) node = node.parent;
        return node.owner;
    }

    child(index) {
        const half = this.size.map((s) => s / 2);
        const bits = [(index >> 2) & 1, (index >> 1) & 1, index & 1];
        const min = this.min.map((m, axis) => m + bits[axis] * half[axis]);
        return new Node(this.name + index, this.level + 1, min, half, this.spacing / 2, this);
    }
}

export function createRoot(meta) {
    const root = new Node('r', 0, meta.corner.slice(), meta.side.slice(), meta.spacing, null);
    root.proxy = { offset: 0, size: meta.firstChunkSize };
    return root;
}

function readRange(view, at, node) {
    const offset = Number(view.getBigInt64(at, true));
    const size = Number(view.getBigInt64(at + 8, true));
    if (offset < 0 || size < 0 || !Number.isSafeInteger(offset + size))
        throw told(DataError, 'tree.range', { node, offset, size });
    return { offset, size };
}

export function checkChunk(node) {
    const { offset, size } = node.proxy;
    if (size === 0 || size % RECORD_BYTES !== 0 || size > MAX_CHUNK_BYTES)
        throw told(DataError, 'tree.records', { node: node.name, size });
    // A chunk that contains itself would be read for ever.
    for (let chunk = node.chunk; chunk; chunk = chunk.outer) {
        if (chunk.offset === offset)
            throw told(DataError, 'tree.circle', { node: node.name });
    }
}

function addChildren(node, mask, queue) {
    if (mask === 0) return;
    if (node.level >= MAX_LEVEL) throw told(DataError, 'tree.deep', { levels: MAX_LEVEL });
    node.children = new Array(8).fill(null);
    for (let i = 0; i < 8; i++) {
        if (mask & (1 << i)) queue.push((node.children[i] = node.child(i)));
    }
}

function readRecord(view, at, node, chunk, isFirst) {
    const type = view.getUint8(at);
    const range = readRange(view, at + 6, node.name);
    node.chunk = chunk;
    node.numPoints = view.getUint32(at + 2, true);
    if (type === PROXY) {
        if (isFirst) throw told(DataError, 'tree.leads', { node: node.name });
        node.proxy = range;
        return 0;
    }
    if (type > PROXY) throw told(DataError, 'tree.type', { node: node.name, type });
    node.proxy = null;
    node.byteOffset = range.offset;
    node.byteSize = range.size;
    return view.getUint8(at + 1);
}

// Reads the chunk that `node` (a proxy) points at. Throws a DataError and leaves the node a childless proxy if
// the bytes do not describe exactly one tree. Returns the number of nodes read.
export function parseChunk(node, bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = bytes.byteLength / RECORD_BYTES;
    const proxy = node.proxy;
    const outer = node.chunk;
    const chunk = { offset: proxy.offset, outer };
    const queue = [node];
    try {
        if (!Number.isInteger(count) || bytes.byteLength !== proxy.size)
            throw told(DataError, 'tree.early', { node: node.name, size: proxy.size });
        for (let i = 0; i < count; i++) {
            if (i >= queue.length) throw told(DataError, 'tree.more');
            const mask = readRecord(view, i * RECORD_BYTES, queue[i], chunk, i === 0);
            addChildren(queue[i], mask, queue);
            if (queue.length > count) throw told(DataError, 'tree.fewer');
        }
        return count;
    } catch (error) {
        node.children = null;
        node.proxy = proxy;
        node.chunk = outer;
        throw error;
    }
}
