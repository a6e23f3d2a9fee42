// Node bytes to arrays: both encodings, every attribute type, colours of 8 and 16 bits, wrong sizes.
import test from 'node:test';
import assert from 'node:assert/strict';
import { brotliDecompressSync } from 'node:zlib';
import { parseAttributes, scalarChannels, TYPES } from '../../viewer/src/data/attributes.js';
import { axis16, decodeNode, hasValue } from '../../viewer/src/data/decode.js';
import { Dataset } from '../../viewer/src/data/dataset.js';
import { parseMetadata } from '../../viewer/src/data/metadata.js';
import { ALL_TYPES, DEFAULT_ATTRIBUTES, encodeNode, mulberry32, terrain, valueOf } from './make_dataset.mjs';
import '../../viewer/src/texts/texts.js';

const WITH_ALL = [
    ...DEFAULT_ATTRIBUTES,
    ...ALL_TYPES,
    { name: 'extra int64', type: 'int64', numElements: 1 },
    { name: 'extra uint64', type: 'uint64', numElements: 1 },
    { name: 'velocity', type: 'float', numElements: 3 },
];

function jobFor(list, points, encoding, rgbShift = 8) {
    const layout = parseAttributes(list.map((a) => ({ ...a, min: [], max: [] })));
    return {
        name: 'r', encoding, layout, numPoints: points.length, scale: [0.001, 0.001, 0.001], shift: [0, 0, 0], rgbShift, exposure: 1, autoExposure: true,
        channels: scalarChannels(layout), geometry: true,
    };
}

function bytesFor(list, points, encoding) {
    const bytes = encodeNode(list, points, encoding);
    return new Uint8Array(encoding === 'BROTLI' ? brotliDecompressSync(bytes) : bytes);
}

for (const encoding of ['DEFAULT', 'BROTLI']) {
    test(`${encoding}: positions, colours and every attribute type`, () => {
        const points = terrain(500);
        const out = decodeNode(jobFor(WITH_ALL, points, encoding), bytesFor(WITH_ALL, points, encoding));
        points.forEach((p, i) => {
            for (let axis = 0; axis < 3; axis++) {
                assert.equal(out.position[3 * i + axis], Math.fround(p.position[axis] * 0.001));
                assert.equal(out.rgb[4 * i + axis], p.rgb[axis] >> 8);
            }
            assert.equal(out.rgb[4 * i + 3], 255);
        });
        let checked = 0;
        for (const a of WITH_ALL) {
            for (let e = 0; e < a.numElements; e++) {
                const key = a.numElements === 1 ? a.name : `${a.name} [${e}]`;
                const scalar = out.scalars.find((s) => s.key === key);
                if (!scalar) continue;
                checked++;
                const wide = a.type.includes('32') || a.type.includes('64') || a.type === 'double' || a.type === 'float';
                points.forEach((p, i) => {
                    const v = Number(valueOf(a, p, e));
                    assert.equal(scalar.values[i], wide ? Math.fround(v) : v, `${key} of point ${i}`);
                });
                const values = points.map((p) => Number(valueOf(a, p, e)));
                assert.deepEqual(scalar.range, [Math.min(...values), Math.max(...values)]);
            }
        }
        assert.equal(checked, WITH_ALL.length - 2 + 2, 'all but position and rgb; velocity counts three times');
    });

    test(`${encoding}: large lattice values keep all their bits`, () => {
        const random = mulberry32(7);
        const points = Array.from({ length: 200 }, (_, index) => ({
            index, position: [0, 0, 0].map(() => Math.floor(random() * 2 ** 31)), rgb: [0, 65535, 256],
        }));
        const list = DEFAULT_ATTRIBUTES.filter((a) => a.name === 'position' || a.name === 'rgb');
        const job = jobFor(list, points, encoding);
        Object.assign(job, { scale: [1, 1, 1], shift: points[0].position.map((c) => -c) });
        const out = decodeNode(job, bytesFor(list, points, encoding));
        points.forEach((p, i) => {
            for (let axis = 0; axis < 3; axis++)
                assert.equal(out.position[3 * i + axis], Math.fround(p.position[axis] - points[0].position[axis]));
        });
        assert.deepEqual([...out.rgb.slice(0, 4)], [0, 255, 1, 255]);
    });

    test(`${encoding}: a node of the wrong size is refused`, () => {
        const points = terrain(10);
        const bytes = bytesFor(DEFAULT_ATTRIBUTES, points, encoding);
        const job = jobFor(DEFAULT_ATTRIBUTES, points, encoding);
        assert.throws(() => decodeNode(job, bytes.subarray(0, bytes.length - 1)), /node r has \d+ bytes for 10 points/);
        assert.throws(() => decodeNode({ ...job, numPoints: 11 }, bytes), /bytes for 11 points/);
    });
}

test('a value of the Morton word reads back on each axis', () => {
    for (const [x, y, z] of [[0xffff, 0, 0], [0, 0xffff, 0], [0, 0, 0xffff], [0x1234, 0xabcd, 0x8001]]) {
        let word = 0n;
        [x, y, z].forEach((v, axis) => {
            for (let bit = 0; bit < 16; bit++) if (v & (1 << bit)) word |= 1n << BigInt(3 * bit + axis);
        });
        const low = Number(word & 0xffffffffn);
        const high = Number(word >> 32n);
        assert.deepEqual([0, 1, 2].map((axis) => axis16(low, high, axis)), [x, y, z]);
    }
});

test('8-bit colours stay as they are, and the root decides where the metadata is silent', () => {
    const list = DEFAULT_ATTRIBUTES;
    const low = terrain(50, { rgb8: true });
    const high = terrain(50);
    const dark = terrain(50).map((p) => ({ ...p, rgb: [3, 200, 255] }));
    assert.equal(decodeNode(jobFor(list, low, 'DEFAULT', 0), bytesFor(list, low, 'DEFAULT')).rgb[0], low[0].rgb[0]);
    assert.equal(decodeNode(jobFor(list, low, 'DEFAULT', null), bytesFor(list, low, 'DEFAULT')).rgbShift, 0);
    assert.equal(decodeNode(jobFor(list, high, 'DEFAULT', null), bytesFor(list, high, 'DEFAULT')).rgbShift, 8);
    // A dark node of a 16-bit data set is dark, not suddenly bright.
    assert.deepEqual([...decodeNode(jobFor(list, dark, 'DEFAULT', 8), bytesFor(list, dark, 'DEFAULT')).rgb.slice(0, 3)], [0, 0, 0]);
});

test('dark colours are brighter by the rule of mote render', () => {
    const list = DEFAULT_ATTRIBUTES.filter((a) => a.name === 'position' || a.name === 'rgb');
    const decode = (colours, more = {}) => {
        const points = colours.map((rgb, index) => ({ index, position: [index, 0, 0], rgb }));
        return decodeNode({ ...jobFor(list, points, 'DEFAULT', null), exposure: null, ...more }, bytesFor(list, points, 'DEFAULT'));
    };
    const ten = [0, 410, 820, 1230, 1640, 2050, 2460, 2870, 3280, 3690].map((v) => [v, 4095 - v, 7]); // of 12 bits
    const shown = decode(ten);
    assert.equal(shown.exposure, 14.21); // as tests/cli/render.test
    assert.deepEqual([...shown.rgb.slice(0, 8)], [0, 226, 0, 255, 23, 204, 0, 255]);
    const asTheyAre = decode(ten, { autoExposure: false });
    assert.deepEqual([asTheyAre.exposure, ...asTheyAre.rgb.slice(0, 3)], [14.21, 0, 15, 0], 'known, not used');
    assert.deepEqual([...decode(ten, { exposure: 2 }).rgb.slice(0, 3)], [0, 32, 0], 'the data set says it');
    const times = (n, rgb) => Array(n).fill(rgb);
    const lamp = decode([...times(19, [3000, 5000, 1000]), [65535, 65535, 65535]]);
    assert.equal(lamp.exposure, 10.49, 'strays do not decide');
    assert.deepEqual([...lamp.rgb.slice(76, 80)], [255, 255, 255, 255]);
    assert.equal(decode([...times(19, [0, 0, 0]), [60000, 0, 0]]).exposure, 1, 'black points have no colour');
    assert.equal(decode(times(5, [0, 0, 0])).exposure, 1);
    assert.equal(decode(times(5, [80, 20, 0])).exposure, 2.55, 'of 8 bits');
    assert.equal(decode(times(5, [86, 20, 0])).exposure, 1);
    assert.equal(decode(times(5, [21900, 0, 0])).exposure, 1);
});

test('the root says how bright all nodes are, whichever comes first', async () => {
    const jobs = [];
    const node = (name, exposure) => ({ name, numPoints: 1, min: [0, 0, 0], byteOffset: 0, byteSize: 1, exposure });
    const root = node('r', 3);
    const pool = { run: async (job) => (jobs.push(job), await null, { exposure: job.exposure ?? (job.name === 'r' ? 3 : 7), rgbShift: 8 }) };
    const open = (exposure, failing = false) => {
        const dataset = new Dataset('http://x/', failing ? { run: async (job, bytes) => (job.name === 'r' ? Promise.reject(new Error('no')) : pool.run(job, bytes)) } : pool);
        const meta = { encoding: 'DEFAULT', layout: { rgb: {} }, scale: [1, 1, 1], stretch: [1, 1, 1], offset: [0, 0, 0], origin: [0, 0, 0], rgbShift: null, exposure };
        return Object.assign(dataset, { meta, root, fetchNodes: async () => new ArrayBuffer(1) });
    };
    const first = open(null);
    assert.deepEqual((await Promise.all(['r0', 'r1'].map((name) => first.decode(node(name), null, [], true)))).map((r) => r.exposure), [3, 3]);
    assert.deepEqual(jobs.map((job) => job.name), ['r', 'r0', 'r1'], 'the root is looked at once');
    const usual = open(null);
    const results = await Promise.all([usual.decode(root, null, [], true), usual.decode(node('r0'), null, [], true)]);
    assert.deepEqual(results.map((r) => r.exposure), [3, 3]);
    assert.equal(jobs.length, 5);
    const broken = open(null, true);
    await assert.rejects(broken.decode(root, null, [], true), /no/);
    assert.equal((await broken.decode(node('r0'), null, [], true)).exposure, 1);
    assert.equal((await open(2).decode(node('r0'), null, [], true)).exposure, 2);
});

test('channels alone, relative to their base; what is not finite has no value', () => {
    const list = [DEFAULT_ATTRIBUTES[0], { name: 'gps-time', type: 'double', numElements: 1 }];
    const points = [3e8 + 1e-5, NaN, 3e8 + 2e-5].map((t, index) => ({ index, position: [1, 2, 3], 'gps-time': t }));
    const job = { ...jobFor(list, points, 'DEFAULT'), geometry: false };
    job.channels = [{ ...job.channels[0], base: 3e8 }];
    const out = decodeNode(job, bytesFor(list, points, 'DEFAULT'));
    assert.equal(out.position, null);
    assert.equal(out.rgb, null);
    assert.deepEqual([...out.scalars[0].values].map((v) => (hasValue(v) ? Math.round(v * 1e5) : null)), [1, null, 2]);
    assert.deepEqual(out.scalars[0].range, [3e8 + 1e-5, 3e8 + 2e-5]);
    assert.equal(TYPES.double.size, 8);
});

test('what the metadata says is no value has none, whatever its type', () => {
    for (const [type, noData] of [['int8', -128], ['uint8', 255], ['int16', -32768], ['uint16', 65535], ['int32', -2147483648], ['float', -9999], ['double', -1e30]]) {
        const list = [DEFAULT_ATTRIBUTES[0], { name: 'height', type, numElements: 1, noData: [noData], scale: [0.01], offset: [0] }];
        const points = [5, noData, 7].map((height, index) => ({ index, position: [1, 2, 3], height }));
        const job = { ...jobFor(list, points, 'DEFAULT'), geometry: false };
        const seen = (exact) => {
            job.channels = [{ ...job.channels[0], exact }];
            const [{ values, range }] = decodeNode(job, bytesFor(list, points, 'DEFAULT')).scalars;
            assert.deepEqual(range, [5, 7], type);
            return [...values].map((v) => (hasValue(v) ? v : null));
        };
        assert.deepEqual(seen(false), [5, null, 7], type);
        assert.deepEqual(seen(true), [5, null, 7], type);
    }
});

test('metadata: what is missing or wrong is said', () => {
    const good = {
        points: 1, offset: [0, 0, 0], scale: [1, 1, 1], spacing: 1, boundingBox: { min: [0, 0, 0], max: [1, 1, 1] },
        encoding: 'DEFAULT', hierarchy: { firstChunkSize: 22 }, attributes: [{ name: 'position', type: 'int32', numElements: 3 }],
    };
    assert.equal(parseMetadata(good).scheme, 'additive');
    assert.equal(parseMetadata({ ...good, flags: ['REPLACING', 'INTRA-CELL-COLOR-FILTERING'] }).scheme, 'replacing');
    assert.equal(parseMetadata({ ...good, spacing: undefined, boundingBox: { min: [0, 0, 0], max: [128, 64, 1] } }).spacing, 1);
    const bad = (change, pattern) => assert.throws(() => parseMetadata({ ...good, ...change }), pattern);
    bad({ encoding: 'ZSTD' }, /ZSTD/);
    bad({ scale: [1, 1] }, /scale/);
    bad({ attributes: [] }, /no attributes/);
    bad({ attributes: [{ name: 'rgb', type: 'uint16', numElements: 3 }] }, /no "position"/);
    bad({ attributes: [{ name: 'position', type: 'int33', numElements: 3 }] }, /int33/);
    bad({ hierarchy: {} }, /firstChunkSize/);
    bad({ boundingBox: { min: [0, 0, 2], max: [1, 1, 1] } }, /boundingBox/);
    const rgb = (max) => parseMetadata({ ...good, attributes: [...good.attributes, { name: 'rgb', type: 'uint16', numElements: 3, max }] }).rgbShift;
    assert.equal(rgb([255, 255, 255]), 0);
    assert.equal(rgb([65280, 0, 0]), 8);
    assert.equal(rgb(undefined), null);
});
