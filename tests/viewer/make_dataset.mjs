// A small Potree 2.0 writer of its own for tests: it shares no code with the viewer or with mote.
//
//   node make_dataset.mjs OUT [--scheme additive|replacing] [--encoding default|brotli] [--points N]
//                             [--kind terrain|quads] [--grid G] [--leaf N] [--step S] [--no-rgb] [--rgb8] [--all-types]
import { mkdirSync, openSync, writeSync, closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const SIZES = { int8: 1, uint8: 1, int16: 2, uint16: 2, int32: 4, uint32: 4, int64: 8, uint64: 8, float: 4, double: 8 };
const WRITE = {
    int8: (b, v, o) => b.writeInt8(v, o),
    uint8: (b, v, o) => b.writeUInt8(v, o),
    int16: (b, v, o) => b.writeInt16LE(v, o),
    uint16: (b, v, o) => b.writeUInt16LE(v, o),
    int32: (b, v, o) => b.writeInt32LE(v, o),
    uint32: (b, v, o) => b.writeUInt32LE(v, o),
    int64: (b, v, o) => b.writeBigInt64LE(BigInt(v), o),
    uint64: (b, v, o) => b.writeBigUInt64LE(BigInt(v), o),
    float: (b, v, o) => b.writeFloatLE(v, o),
    double: (b, v, o) => b.writeDoubleLE(v, o),
};

export const DEFAULT_ATTRIBUTES = [
    { name: 'position', type: 'int32', numElements: 3 },
    { name: 'intensity', type: 'uint16', numElements: 1 },
    { name: 'classification', type: 'uint8', numElements: 1 },
    { name: 'rgb', type: 'uint16', numElements: 3 },
    { name: 'gps-time', type: 'double', numElements: 1 },
];
export const ALL_TYPES = Object.keys(SIZES)
    .filter((type) => !type.includes('64'))
    .map((type) => ({ name: `extra ${type}`, type, numElements: 1 }));

// A value for any attribute of point i, different for each type and within its range.
export function valueOf(attribute, point, element = 0) {
    if (point[attribute.name] !== undefined) {
        const v = point[attribute.name];
        return Array.isArray(v) ? v[element] : v;
    }
    const k = (point.index * 31 + element * 7 + attribute.name.length) % 200;
    switch (attribute.type) {
        case 'int8': return k - 100;
        case 'uint8': return k;
        case 'int16': return (k - 100) * 300;
        case 'uint16': return k * 300;
        case 'int32': case 'int64': return (k - 100) * 20000000;
        case 'uint32': case 'uint64': return k * 20000000;
        case 'float': return (k - 100) / 8;
        default: return 1e9 + k / 1000;
    }
}

function spread(v) {
    let out = 0n;
    for (let bit = 0; bit < 16; bit++) if (v & (1 << bit)) out |= 1n << BigInt(3 * bit);
    return out;
}
const morton = (x, y, z) => spread(x) | (spread(y) << 1n) | (spread(z) << 2n);

function encodeBrotli(attributes, points) {
    const columns = attributes.map((a) => {
        if (a.name === 'position') {
            const out = Buffer.alloc(16 * points.length);
            points.forEach(({ position: p }, i) => {
                out.writeBigUInt64LE(morton(p[0] >>> 16, p[1] >>> 16, p[2] >>> 16), 16 * i);
                out.writeBigUInt64LE(morton(p[0] & 0xffff, p[1] & 0xffff, p[2] & 0xffff), 16 * i + 8);
            });
            return out;
        }
        if (a.name === 'rgb') {
            const out = Buffer.alloc(8 * points.length);
            points.forEach(({ rgb }, i) => out.writeBigUInt64LE(morton(...rgb), 8 * i));
            return out;
        }
        const size = SIZES[a.type];
        const out = Buffer.alloc(size * a.numElements * points.length);
        points.forEach((p, i) => {
            for (let e = 0; e < a.numElements; e++) WRITE[a.type](out, valueOf(a, p, e), (i * a.numElements + e) * size);
        });
        return out;
    });
    return brotliCompressSync(Buffer.concat(columns), { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } });
}

function encodeRecords(attributes, points) {
    const stride = attributes.reduce((sum, a) => sum + SIZES[a.type] * a.numElements, 0);
    const out = Buffer.alloc(stride * points.length);
    let at = 0;
    for (const p of points) {
        for (const a of attributes) {
            for (let e = 0; e < a.numElements; e++) {
                WRITE[a.type](out, valueOf(a, p, e), at);
                at += SIZES[a.type];
            }
        }
    }
    return out;
}

export const encodeNode = (attributes, points, encoding) =>
    (encoding === 'BROTLI' ? encodeBrotli : encodeRecords)(attributes, points);

// points: { index, position: lattice integers in [0, side), rgb: 16-bit, ... }. Returns the tree.
function buildNode(points, min, side, level, options) {
    const node = { points, children: new Array(8).fill(null), level };
    if (points.length <= options.leaf || side <= 1) return node;
    const cell = side / options.grid;
    const cells = new Map();
    const rest = [];
    for (const p of points) {
        const key = p.position.map((c, axis) => Math.floor((c - min[axis]) / cell)).join(' ');
        if (cells.has(key)) rest.push(p);
        else cells.set(key, p);
    }
    node.points = [...cells.values()];
    const below = options.scheme === 'replacing' ? points : rest;
    const parts = Array.from({ length: 8 }, () => []);
    const half = side / 2;
    for (const p of below) {
        const upper = p.position.map((c, axis) => (c >= min[axis] + half ? 1 : 0));
        parts[upper[0] * 4 + upper[1] * 2 + upper[2]].push(p);
    }
    parts.forEach((part, i) => {
        if (part.length === 0) return;
        const corner = [min[0] + half * (i >> 2), min[1] + half * ((i >> 1) & 1), min[2] + half * (i & 1)];
        node.children[i] = buildNode(part, corner, half, level + 1, options);
    });
    return node;
}

const maskOf = (node) => node.children.reduce((mask, child, i) => mask | (child ? 1 << i : 0), 0);

function record(type, mask, points, offset, size) {
    const out = Buffer.alloc(22);
    out.writeUInt8(type, 0);
    out.writeUInt8(mask, 1);
    out.writeUInt32LE(points, 2);
    out.writeBigInt64LE(BigInt(offset), 6);
    out.writeBigInt64LE(BigInt(size), 14);
    return out;
}

// Breadth-first chunks of `step` levels; the node at a chunk's last level that has descendants becomes a proxy.
function writeHierarchy(root, step) {
    const roots = [root];
    const chunks = [];
    for (const top of roots) {
        const nodes = [];
        const queue = [top];
        for (const node of queue) {
            const proxy = node !== top && maskOf(node) !== 0 && node.level - top.level >= step;
            nodes.push({ node, proxy });
            if (proxy) roots.push(node);
            else queue.push(...node.children.filter(Boolean));
        }
        chunks.push({ top, nodes });
    }
    let offset = 0;
    for (const chunk of chunks) {
        chunk.top.chunk = { offset, size: 22 * chunk.nodes.length };
        offset += chunk.top.chunk.size;
    }
    const records = chunks.flatMap(({ nodes }) => nodes.map(({ node, proxy }) => {
        const n = node.points.length;
        if (proxy) return record(2, maskOf(node), n, node.chunk.offset, node.chunk.size);
        return record(maskOf(node) ? 0 : 1, maskOf(node), n, node.data.offset, node.data.size);
    }));
    return { bytes: Buffer.concat(records), firstChunkSize: chunks[0].top.chunk.size };
}

function range(attributes, points, scale, offset) {
    return attributes.map((a) => {
        const min = new Array(a.numElements).fill(Infinity);
        const max = new Array(a.numElements).fill(-Infinity);
        for (const p of points) {
            for (let e = 0; e < a.numElements; e++) {
                let v = Number(valueOf(a, p, e));
                if (a.name === 'position') v = v * scale[e] + offset[e];
                min[e] = Math.min(min[e], v);
                max[e] = Math.max(max[e], v);
            }
        }
        const empty = points.length === 0;
        return {
            name: a.name, description: '', size: SIZES[a.type] * a.numElements, numElements: a.numElements,
            elementSize: SIZES[a.type], type: a.type, min: empty ? min.fill(0) : min, max: empty ? max.fill(0) : max,
            scale: new Array(a.numElements).fill(1), offset: new Array(a.numElements).fill(0),
        };
    });
}

// Writes a data set; returns { root, points, nodes, metadata }.
export function writeDataset(folder, points, options = {}) {
    const o = {
        scheme: 'additive', encoding: 'DEFAULT', grid: 32, leaf: 500, step: 3, name: 'test', projection: '',
        attributes: DEFAULT_ATTRIBUTES, scale: [0.001, 0.001, 0.001], offset: [0, 0, 0], flags: null, ...options,
    };
    o.encoding = o.encoding.toUpperCase();
    mkdirSync(folder, { recursive: true });
    let longest = 0;
    for (const p of points) longest = Math.max(longest, ...p.position);
    const side = Math.max(1, longest + 1);
    const root = buildNode(points, [0, 0, 0], side, 0, o);
    const file = openSync(join(folder, 'octree.bin'), 'w');
    let offset = 0;
    let nodes = 0;
    let depth = 0;
    const queue = [root];
    for (const node of queue) {
        const bytes = node.points.length > 0 ? encodeNode(o.attributes, node.points, o.encoding) : Buffer.alloc(0);
        writeSync(file, bytes);
        node.data = { offset, size: bytes.length };
        offset += bytes.length;
        nodes++;
        depth = Math.max(depth, node.level);
        queue.push(...node.children.filter(Boolean));
    }
    closeSync(file);
    const hierarchy = writeHierarchy(root, o.step);
    writeFileSync(join(folder, 'hierarchy.bin'), hierarchy.bytes);
    const cubeSide = side * Math.max(...o.scale); // with scales that differ only a single node has the right box
    const metadata = {
        version: '2.0', name: o.name, description: '', points: points.length, projection: o.projection,
        hierarchy: { firstChunkSize: hierarchy.firstChunkSize, stepSize: o.step, depth },
        offset: o.offset, scale: o.scale, spacing: cubeSide / o.grid,
        boundingBox: { min: o.offset, max: o.offset.map((c) => c + cubeSide) },
        encoding: o.encoding, attributes: range(o.attributes, points, o.scale, o.offset),
    };
    const flags = o.flags ?? (o.scheme === 'replacing' ? ['REPLACING', 'EXPLICIT-RANDOM-SUBSAMPLING'] : ['ADDITIVE']);
    if (o.flags !== false) metadata.flags = flags;
    writeFileSync(join(folder, 'metadata.json'), JSON.stringify(metadata, null, 1));
    return { root, points: points.length, nodes, metadata };
}

// A small generator of uniform numbers in [0, 1), the same in each run.
export function mulberry32(seed) {
    let state = seed;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

// Hills with houses in UTM coordinates: something to look at.
export function terrain(count, { rgb8 = false } = {}) {
    const points = [];
    const random = mulberry32(12345);
    for (let index = 0; index < count; index++) {
        const [x, y] = [random() * 200, random() * 200];
        let z = 12 + 6 * Math.sin(x / 30) * Math.cos(y / 25) + 2 * Math.sin(x / 7 + y / 11);
        const house = (x % 40) > 12 && (x % 40) < 26 && (y % 50) > 15 && (y % 50) < 35;
        const wall = house && random() < 0.3;
        if (house) z = wall ? 12 + random() * 16 : 28 + Math.abs((x % 40) - 19) * -0.5 + 3;
        const shade = 0.75 + 0.25 * Math.sin(x * 0.9) * Math.sin(y * 0.8);
        const base = house ? (wall ? [205, 190, 165] : [170, 70, 50]) : [80, 140, 60];
        const unit = rgb8 ? 1 : 257;
        points.push({
            index,
            position: [x, y, z].map((c) => Math.round(c * 1000)),
            rgb: base.map((c) => Math.round(c * shade) * unit),
            intensity: Math.round(2000 * shade + (house ? 5000 : 0)),
            classification: house ? 6 : z > 18 ? 5 : 2,
            'gps-time': 3.0e8 + index * 1e-5,
        });
    }
    return points;
}

// A flat board of four coloured quarters, dense enough that every pixel of it is covered: for exact colours.
export function quads(perSide, { rgb8 = false } = {}) {
    const unit = rgb8 ? 1 : 257;
    const colours = { '00': [200, 40, 40], '10': [40, 180, 60], '01': [50, 70, 210], '11': [230, 200, 40] };
    const points = [];
    for (let y = 0; y < perSide; y++) {
        for (let x = 0; x < perSide; x++) {
            const key = `${x < perSide / 2 ? 0 : 1}${y < perSide / 2 ? 0 : 1}`;
            points.push({
                index: points.length,
                position: [Math.round((x * 100000) / (perSide - 1)), Math.round((y * 100000) / (perSide - 1)), key === '11' ? 5000 : 0],
                rgb: colours[key].map((c) => c * unit),
                intensity: key === '00' ? 100 : 1000,
                classification: { '00': 2, '10': 5, '01': 9, '11': 6 }[key],
                'gps-time': 3.0e8 + points.length * 1e-5,
            });
        }
    }
    return points;
}

function main(args) {
    const value = (name, fallback) => (args.includes(name) ? args[args.indexOf(name) + 1] : fallback);
    const rgb8 = args.includes('--rgb8');
    const count = Number(value('--points', 100000));
    const points = value('--kind', 'terrain') === 'quads' ? quads(Math.round(Math.sqrt(count)), { rgb8 }) : terrain(count, { rgb8 });
    let attributes = DEFAULT_ATTRIBUTES;
    if (args.includes('--no-rgb')) attributes = attributes.filter((a) => a.name !== 'rgb');
    if (args.includes('--all-types')) attributes = [...attributes, ...ALL_TYPES, { name: 'velocity', type: 'float', numElements: 3 }];
    const scheme = value('--scheme', 'additive');
    const result = writeDataset(args[0], points, {
        attributes, scheme, encoding: value('--encoding', 'default'), grid: Number(value('--grid', 128)),
        leaf: Number(value('--leaf', 10000)), step: Number(value('--step', 4)), offset: [500000.123, 5400000.456, 312.5],
        name: `${value('--kind', 'terrain')}, ${scheme}`,
        projection: 'PROJCS["WGS 84 / UTM zone 32N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]]]]',
    });
    console.log(`${args[0]}: ${result.points} points, ${result.nodes} nodes`);
}

if (process.argv[1]?.endsWith('make_dataset.mjs')) main(process.argv.slice(2));
