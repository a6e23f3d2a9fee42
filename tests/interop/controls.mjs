// The comparisons themselves: files of other programs pass, a changed byte does not.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCopc } from './copc_octree.mjs';
import { commonParts, parseHeader, partsOf, readLas } from './las_file.mjs';
import { decodeWithLazPerf } from './laz_perf.mjs';
import { makeLas } from './make_las.mjs';
import { assertSameRecords, assertSameSet, eachRecord } from './records.mjs';

// Pairs of one scan, plain and compressed by LASzip, of the formats that laz-perf reads.
const PAIRS = [
    '1815', '1_4_w_evlr', 'autzen_trim', 'extrabytes', 'pdrf6-1.4', 'pdrf8-1.4', 'point-color', 'point-color-time',
    'point-time', 'point10',
];
// COPC files with the scan that they were made from.
const OCTREES = [
    ['copc/simple.copc.laz', 'las/1.2-with-color.las'],
    ['copc/simple_with_page.copc.laz', 'las/1.2-with-color.las'],
    ['copc/ellipsoid.copc.laz', 'laz/ellipsoid.laz'],
    ['copc/lone-star.copc.laz', 'laz/lone-star.laz'],
];

function changedRecords(o) {
    return {
        name: 'control: one changed bit of a record is found',
        run() {
            const { records, recordBytes } = makeLas(join(o.scratch, 'control.las'), { format: 3, count: 1000 });
            const changed = Buffer.from(records);
            changed[777 * recordBytes + 30] ^= 4;
            const message = /point 777 differs at byte 30/;
            assert.throws(() => assertSameRecords(changed, records, recordBytes), { message });
            const sets = [changed, records].map((r) => [...eachRecord(r, recordBytes)]);
            assert.throws(() => assertSameSet(...sets), { message: /other points/ });
            assertSameSet(sets[1], [...sets[1]].reverse());
            return 'in order and as a set';
        },
    };
}

function pair(o, name) {
    return {
        name: `laz-perf reads ${name}.laz of LASzip`,
        async run() {
            const plain = readLas(join(o.data, 'las', `${name}.las`));
            const got = await decodeWithLazPerf(readFileSync(join(o.data, 'laz', `${name}.laz`)));
            assertSameRecords(got.records, plain.records, plain.header.recordBytes);
            return `${got.count} points of format ${got.format}`;
        },
    };
}

async function sourceRecords(path) {
    if (!path.endsWith('.laz')) return readLas(path);
    const file = readFileSync(path);
    return { header: parseHeader(file), records: (await decodeWithLazPerf(file)).records };
}

function octree(o, [path, source]) {
    return {
        name: `copc reads ${path} of others`,
        async run() {
            const found = await readCopc(join(o.data, path), { exact: false });
            const whole = await sourceRecords(join(o.data, source));
            const parts = partsOf(found.header.format, whole.header.format);
            const step = found.header.scale.map((scale, k) => Math.max(scale, whole.header.scale[k]));
            const keys = [found, whole].map(({ header, records }) =>
                [...eachRecord(records, header.recordBytes)].map((r) => commonParts(r, header, parts, step)));
            assertSameSet(...keys);
            return `${found.header.count} points in ${found.nodes} nodes, ${found.pages} pages`;
        },
    };
}

// A key of the hierarchy that is another cell, and a node that is missing.
function brokenOctree(o) {
    return {
        name: 'control: a wrong hierarchy is found',
        async run() {
            const file = readFileSync(join(o.data, 'copc/ellipsoid.copc.laz'));
            const path = join(o.scratch, 'broken.copc.laz');
            const page = Number(file.readBigUInt64LE(429 + 40));
            const entry = page + 32; // the second of the page
            for (const [at, value, message] of [
                [4, 7, /is a cell of its depth|the parent of|lies in its cube|comes once/],
                [28, 1, /the header says/],
            ]) {
                const changed = Buffer.from(file);
                changed.writeInt32LE(changed.readInt32LE(entry + at) === value ? value + 1 : value, entry + at);
                writeFileSync(path, changed);
                await assert.rejects(() => readCopc(path, { exact: false }), { message });
            }
            return 'a wrong cell and a wrong count';
        },
    };
}

export function controls(o) {
    const found = [changedRecords(o)];
    if (o.data === null) return found;
    for (const name of PAIRS) assert.ok(existsSync(join(o.data, 'las', `${name}.las`)), `${name}.las is there`);
    return [...found, ...PAIRS.map((name) => pair(o, name)), ...OCTREES.map((row) => octree(o, row)), brokenOctree(o)];
}
