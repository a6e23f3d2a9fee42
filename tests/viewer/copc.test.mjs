// The hierarchy of a COPC file, and fields of a few bits.
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkPage, ENTRY_BYTES, keyOf, parsePage } from '../../viewer/src/data/copc/copc_hierarchy.js';
import { decodeNode } from '../../viewer/src/data/decode.js';
import '../../viewer/src/texts/texts.js';
import { Node } from '../../viewer/src/data/hierarchy.js';

const LIMITS = { points: 1000, recordBytes: 30, bytes: 1e6 };

function page(entries) {
    const bytes = Buffer.alloc(ENTRY_BYTES * entries.length);
    entries.forEach(([level, x, y, z, offset, size, points], i) => {
        [level, x, y, z].forEach((v, k) => bytes.writeInt32LE(v, ENTRY_BYTES * i + 4 * k));
        bytes.writeBigUInt64LE(BigInt(offset), ENTRY_BYTES * i + 16);
        bytes.writeInt32LE(size, ENTRY_BYTES * i + 24);
        bytes.writeInt32LE(points, ENTRY_BYTES * i + 28);
    });
    return new Uint8Array(bytes);
}

function root(bytes, offset = 5000) {
    const node = new Node('r', 0, [0, 0, 0], [8, 8, 8], 1, null);
    node.proxy = { offset, size: bytes.length };
    return node;
}

const ROOT = [0, 0, 0, 0, 600, 100, 10];

test('a name and its key', () => {
    assert.deepEqual(keyOf('r'), [0, 0, 0, 0]);
    assert.deepEqual(keyOf('r70'), [2, 2, 2, 2]);
    assert.deepEqual(keyOf('r16'), [2, 1, 1, 2]);
});

test('entries in any order make the tree; a page is read when the view comes to it', () => {
    const bytes = page([[2, 3, 0, 1, 900, 50, 5], ROOT, [1, 1, 0, 0, 700, 100, 0], [1, 0, 1, 1, 7000, 64, -1]]);
    const r = root(bytes);
    assert.equal(parsePage(r, bytes, LIMITS), 4);
    assert.equal(r.numPoints, 10);
    assert.equal(r.children[4].numPoints, 0);
    assert.deepEqual(r.children[4].min, [4, 0, 0]);
    assert.equal(r.children[4].children[5].byteOffset, 900);
    assert.deepEqual(r.children[3].proxy, { offset: 7000, size: 64 });
    const below = page([[1, 0, 1, 1, 800, 10, 1], [2, 0, 2, 2, 810, 10, 1]]);
    assert.equal(parsePage(r.children[3], below, LIMITS), 2);
    assert.equal(r.children[3].children[0].numPoints, 1);
});

test('pages that lie are refused, and the node stays as it was', () => {
    const refused = (entries, pattern) => {
        const bytes = page(entries);
        const r = root(bytes);
        assert.throws(() => parsePage(r, bytes, LIMITS), pattern);
        assert.equal(r.children, null);
        assert.equal(r.proxy.offset, 5000);
    };
    refused([ROOT, ROOT], /twice/);
    refused([[1, 0, 0, 0, 600, 100, 10]], /does not hold the node/);
    refused([[0, 0, 0, 0, 600, 32, -1]], /does not hold the node/);
    refused([[0, 0, 0, 0, 600, 100, 1001]], /claims 1001 points/);
    refused([ROOT, [1, 0, 0, 0, 600, -1, 10]], /impossible place/);
    refused([ROOT, [1, 0, 0, 0, 600, 0, 10]], /impossible place/);
    refused([ROOT, [1, 0, 0, 0, 600, 10, -2]], /impossible place/);
    const bytes = page([ROOT, [1, 0, 0, 0, 5000, 64, -1]]);
    const r = root(bytes);
    parsePage(r, bytes, LIMITS);
    assert.throws(() => checkPage(r.children[0]), /leads back to itself/);
    r.children[0].proxy = { offset: 1, size: 33 };
    assert.throws(() => checkPage(r.children[0]), /33 bytes/);
});

test('a field of a few bits', () => {
    const attribute = (shift, mask) => ({ type: 'uint8', typeSize: 1, numElements: 1, size: 1, offset: 12, bits: { shift, mask } });
    const position = { type: 'int32', typeSize: 4, numElements: 3, size: 12, offset: 0 };
    const layout = { attributes: [position, attribute(0, 15), attribute(4, 15)], stride: 13, position, rgb: null };
    const bytes = new Uint8Array(26);
    bytes[12] = 0x21;
    bytes[25] = 0xf3;
    const channels = [1, 2].map((i) => ({ key: String(i), attribute: i, element: 0, base: 0 }));
    const { scalars } = decodeNode({ name: 'r', encoding: 'LAZ', layout, numPoints: 2, channels, geometry: false }, bytes);
    assert.deepEqual(scalars.map(({ values }) => [...values]), [[1, 3], [2, 15]]);
});
