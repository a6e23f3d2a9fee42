// The octree of a COPC file: pages of entries of 32 bytes, in any order, joined by entries that stand for pages. Pure.
//
//   level x y z (int32 each) | place (uint64) | bytes (int32) | points (int32; -1: the place is that of a page)
import { DataError, told } from '../errors.js';

export const ENTRY_BYTES = 32;
const MAX_PAGE_BYTES = 256 * 1024 * 1024;
const MAX_LEVEL = 31; // keys are int32 and less than 2^level
const PAGE = -1;

const keyText = (level, x, y, z) => `${level}-${x}-${y}-${z}`;

// [level, x, y, z] of a node's name.
export function keyOf(name) {
    const cell = [0, 0, 0];
    for (const digit of name.slice(1)) [4, 2, 1].forEach((bit, i) => (cell[i] = 2 * cell[i] + (Number(digit) & bit ? 1 : 0)));
    return [name.length - 1, ...cell];
}

export function checkPage(node) {
    const { offset, size } = node.proxy;
    if (size === 0 || size % ENTRY_BYTES !== 0 || size > MAX_PAGE_BYTES)
        throw told(DataError, 'copc.entries', { node: node.name, size, entry: ENTRY_BYTES });
    for (let chunk = node.chunk; chunk; chunk = chunk.outer) { // a page that contains itself would be read for ever
        if (chunk.offset === offset) throw told(DataError, 'copc.circle', { node: node.name });
    }
}

function readEntries(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const entries = new Map();
    for (let at = 0; at < bytes.byteLength; at += ENTRY_BYTES) {
        const key = keyText(...[0, 4, 8, 12].map((i) => view.getInt32(at + i, true)));
        if (entries.has(key)) throw told(DataError, 'copc.twice', { node: key });
        entries.set(key, { offset: Number(view.getBigUint64(at + 16, true)), size: view.getInt32(at + 24, true), points: view.getInt32(at + 28, true) });
    }
    return entries;
}

function take(node, entry, chunk, limits) {
    const { offset, size, points } = entry;
    const isPage = points === PAGE;
    if (size < 0 || points < PAGE || !Number.isSafeInteger(offset + size) || (!isPage && points > 0 && size === 0))
        throw told(DataError, 'copc.place', { node: node.name, offset, size, points });
    if (!isPage && (points > limits.points || points * limits.recordBytes > limits.bytes))
        throw told(DataError, 'copc.claims', { node: node.name, points });
    node.chunk = chunk;
    node.proxy = isPage ? { offset, size } : null;
    node.numPoints = isPage ? 0 : points;
    node.byteOffset = isPage ? 0 : offset;
    node.byteSize = isPage || points === 0 ? 0 : size;
}

// Reads the page that `node` points at. limits { points: of the file, recordBytes, bytes: that a node's points may take }.
// Leaves the node as it was where the page is wrong. Returns the number of nodes read.
export function parsePage(node, bytes, limits) {
    const { proxy, chunk: outer } = node;
    const chunk = { offset: proxy.offset, outer };
    try {
        if (bytes.byteLength !== proxy.size) throw told(DataError, 'copc.early', { node: node.name });
        const entries = readEntries(bytes);
        const first = entries.get(keyText(...keyOf(node.name)));
        if (!first || first.points === PAGE) throw told(DataError, 'copc.absent', { node: node.name });
        const queue = [[node, keyOf(node.name), first]];
        for (let i = 0; i < queue.length; i++) {
            const [here, [level, x, y, z], entry] = queue[i];
            take(here, entry, chunk, limits);
            for (let c = 0; c < 8 && level < MAX_LEVEL && !here.proxy; c++) {
                const key = [level + 1, 2 * x + ((c >> 2) & 1), 2 * y + ((c >> 1) & 1), 2 * z + (c & 1)];
                const below = entries.get(keyText(...key));
                if (!below) continue;
                here.children ??= new Array(8).fill(null);
                queue.push([(here.children[c] = here.child(c)), key, below]);
            }
        }
        return queue.length;
    } catch (error) {
        Object.assign(node, { children: null, proxy, chunk: outer });
        throw error;
    }
}
