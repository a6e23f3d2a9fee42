// Reads a whole Potree 2.0 folder in plain sight, sharing no code with the viewer: what the viewer should show.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

// Every node as { name, numPoints, offset, size, isLeaf }.
export function readNodes(folder, metadata) {
    const file = readFileSync(join(folder, 'hierarchy.bin'));
    const nodes = [];
    const chunks = [{ name: 'r', offset: 0, size: metadata.hierarchy.firstChunkSize }];
    for (const chunk of chunks) {
        const queue = [chunk.name];
        for (let i = 0; i < chunk.size / 22; i++) {
            const at = chunk.offset + 22 * i;
            const name = queue[i];
            const offset = Number(file.readBigInt64LE(at + 6));
            const size = Number(file.readBigInt64LE(at + 14));
            if (file[at] === 2) {
                chunks.push({ name, offset, size });
                continue;
            }
            const mask = file[at + 1];
            nodes.push({ name, numPoints: file.readUInt32LE(at + 2), offset, size, isLeaf: mask === 0 });
            for (let c = 0; c < 8; c++) if (mask & (1 << c)) queue.push(name + c);
        }
    }
    return nodes;
}

const gather = (word, axis) => {
    let v = 0;
    for (let bit = 0; bit < 16; bit++) v |= Number((word >> BigInt(3 * bit + axis)) & 1n) << bit;
    return v >>> 0;
};

// Calls visit(position in the world, [r, g, b] as stored or null) for up to `limit` points of the node.
export function visitPoints(folder, metadata, node, limit, visit) {
    const raw = Buffer.alloc(node.size);
    const file = openSync(join(folder, 'octree.bin'), 'r');
    readSync(file, raw, 0, node.size, node.offset);
    closeSync(file);
    const brotli = metadata.encoding === 'BROTLI';
    const bytes = brotli ? brotliDecompressSync(raw) : raw;
    const width = (a) => (brotli && a.name === 'position' ? 16 : brotli && a.name === 'rgb' ? 8 : a.size);
    const place = (name) => {
        let at = 0;
        for (const a of metadata.attributes) {
            if (a.name === name) return at;
            at += width(a);
        }
        return -1;
    };
    const stride = metadata.attributes.reduce((sum, a) => sum + width(a), 0);
    const [p, c, n] = [place('position'), place('rgb'), node.numPoints];
    for (let k = 0; k < Math.min(n, limit); k++) {
        const i = Math.floor((k * n) / Math.min(n, limit));
        let lattice;
        let rgb = null;
        if (brotli) {
            const [high, low] = [0, 8].map((o) => bytes.readBigUInt64LE(p * n + 16 * i + o));
            lattice = [0, 1, 2].map((axis) => gather(high, axis) * 65536 + gather(low, axis));
            if (c >= 0) rgb = [0, 1, 2].map((axis) => gather(bytes.readBigUInt64LE(c * n + 8 * i), axis));
        } else {
            lattice = [0, 4, 8].map((o) => bytes.readInt32LE(i * stride + p + o));
            if (c >= 0) rgb = [0, 2, 4].map((o) => bytes.readUInt16LE(i * stride + c + o));
        }
        visit(lattice.map((v, axis) => v * metadata.scale[axis] + metadata.offset[axis]), rgb);
    }
}

// { metadata, nodes, scheme, visiblePoints: what a view of everything at full detail draws, shift of the colours }.
export function readDataset(folder) {
    const metadata = JSON.parse(readFileSync(join(folder, 'metadata.json'), 'utf8'));
    const nodes = metadata.points > 0 ? readNodes(folder, metadata) : [];
    const scheme = metadata.flags?.includes('REPLACING') ? 'replacing' : 'additive';
    const counted = scheme === 'replacing' ? nodes.filter((n) => n.isLeaf) : nodes;
    const rgb = metadata.attributes.find((a) => a.name === 'rgb');
    return {
        folder, metadata, nodes, scheme,
        visiblePoints: counted.reduce((sum, n) => sum + n.numPoints, 0),
        visibleNodes: counted,
        hasRgb: Boolean(rgb) && Math.max(...rgb.max) > 0,
        shift: rgb && Math.max(...rgb.max) > 255 ? 8 : 0,
    };
}
