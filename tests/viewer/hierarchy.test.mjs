// hierarchy.bin: whole trees through proxies, and hostile ones that must end in an error.
import test from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseMetadata } from '../../viewer/src/data/metadata.js';
import '../../viewer/src/texts/texts.js';
import { checkChunk, createRoot, parseChunk, RECORD_BYTES } from '../../viewer/src/data/hierarchy.js';
import { terrain, writeDataset } from './make_dataset.mjs';

const META = { corner: [0, 0, 0], side: [8, 8, 8], spacing: 1 };

function rootFor(bytes, offset = 0, size = bytes.length) {
    const root = createRoot({ ...META, firstChunkSize: size });
    root.proxy.offset = offset;
    return root;
}

function record(type, mask, points, offset = 0, size = 0) {
    const b = Buffer.alloc(RECORD_BYTES);
    b.writeUInt8(type, 0);
    b.writeUInt8(mask, 1);
    b.writeUInt32LE(points, 2);
    b.writeBigInt64LE(BigInt(offset), 6);
    b.writeBigInt64LE(BigInt(size), 14);
    return b;
}

const all = (...records) => new Uint8Array(Buffer.concat(records));

// Reads the whole tree, chunk by chunk, as the viewer does on demand.
function readAll(meta, file) {
    const root = createRoot(meta);
    const open = [root];
    let chunks = 0;
    for (const node of open) {
        if (node.proxy) {
            checkChunk(node);
            const { offset, size } = node.proxy;
            parseChunk(node, new Uint8Array(file.subarray(offset, offset + size)));
            chunks++;
        }
        open.push(...(node.children ?? []).filter(Boolean));
    }
    return { root, nodes: open, chunks };
}

for (const step of [1, 2, 4]) {
    test(`a tree of many chunks, step ${step}`, () => {
        const folder = mkdtempSync(join(tmpdir(), 'mote-test-'));
        try {
            const made = writeDataset(folder, terrain(20000), { step, grid: 8, leaf: 200 });
            const meta = parseMetadata(JSON.parse(readFileSync(join(folder, 'metadata.json'))));
            const { root, nodes, chunks } = readAll(meta, readFileSync(join(folder, 'hierarchy.bin')));
            assert.equal(nodes.length, made.nodes);
            assert.equal(nodes.reduce((sum, n) => sum + n.numPoints, 0), 20000);
            assert.equal(new Set(nodes.map((n) => n.name)).size, nodes.length);
            if (step === 1) assert.ok(chunks > 20);
            const compare = (a, b) => {
                assert.equal(a.numPoints, b.points.length);
                assert.equal(a.byteOffset, b.data.offset);
                for (let i = 0; i < 8; i++) {
                    assert.equal(Boolean(a.children?.[i]), Boolean(b.children[i]));
                    if (b.children[i]) compare(a.children[i], b.children[i]);
                }
            };
            compare(root, made.root);
        } finally {
            rmSync(folder, { recursive: true });
        }
    });
}

test('boxes and spacing halve; bit 2 of the index is x, bit 0 is z', () => {
    const bytes = all(record(0, 0b00010010, 5), record(1, 0, 1), record(1, 0, 2));
    const root = rootFor(bytes);
    assert.equal(parseChunk(root, bytes), 3);
    const [one, four] = [root.children[1], root.children[4]];
    assert.deepEqual([one.min, four.min, one.size], [[0, 0, 4], [4, 0, 0], [4, 4, 4]]);
    assert.deepEqual([one.name, four.name, one.spacing, one.level], ['r1', 'r4', 0.5, 1]);
    assert.equal(root.children[0], null);
});

test('too few, too many and torn records', () => {
    const few = all(record(0, 3, 5), record(1, 0, 1));
    const many = all(record(0, 1, 5), record(1, 0, 1), record(1, 0, 1));
    for (const [bytes, pattern] of [[few, /fewer records/], [many, /more records/]]) {
        const root = rootFor(bytes);
        assert.throws(() => parseChunk(root, bytes), pattern);
        assert.equal(root.children, null);
        assert.ok(root.proxy, 'the node can be asked for again');
    }
    const torn = all(record(1, 0, 5)).subarray(0, 20);
    assert.throws(() => checkChunk(rootFor(torn)), /not records of 22/);
    assert.throws(() => parseChunk(rootFor(torn, 0, 22), torn), /ends early/);
    assert.throws(() => checkChunk(rootFor(torn, 0, 0)), /0 bytes/);
    assert.throws(() => checkChunk(rootFor(torn, 0, 22 * 2 ** 40)), /bytes/);
});

test('a chunk that leads back to itself, directly or round a corner', () => {
    const first = all(record(0, 1, 5), record(2, 1, 5, 0, 44)); // its child points at the chunk itself
    const root = rootFor(first);
    parseChunk(root, first);
    assert.throws(() => checkChunk(root.children[0]), /back to itself/);

    const a = all(record(0, 1, 5), record(2, 1, 5, 100, 44));
    const b = all(record(0, 1, 5), record(2, 1, 5, 0, 44));
    const top = rootFor(a);
    parseChunk(top, a);
    checkChunk(top.children[0]);
    parseChunk(top.children[0], b);
    assert.throws(() => checkChunk(top.children[0].children[0]), /back to itself/);
});

test('a chunk whose first record is a proxy again, unknown types, impossible ranges, endless depth', () => {
    const proxy = all(record(2, 1, 5, 500, 22));
    assert.throws(() => parseChunk(rootFor(proxy), proxy), /another chunk/);
    const type = all(record(7, 0, 5));
    assert.throws(() => parseChunk(rootFor(type), type), /unknown type 7/);
    const range = all(record(1, 0, 5, -1, 10));
    assert.throws(() => parseChunk(rootFor(range), range), /impossible byte range/);
    const deep = all(...Array.from({ length: 80 }, () => record(0, 1, 1)), record(1, 0, 1));
    assert.throws(() => parseChunk(rootFor(deep), deep), /deeper than/);
});
