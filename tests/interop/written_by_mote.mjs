// Synthetic scans of every point format that the peers read, written by mote.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCopc } from './copc_octree.mjs';
import { readLas } from './las_file.mjs';
import { decodeWithLazPerf } from './laz_perf.mjs';
import { makeLas } from './make_las.mjs';
import { runMote } from './mote.mjs';
import { assertSameRecords, assertSameSet, eachRecord } from './records.mjs';

const FORMATS = [0, 1, 2, 3, 6, 7, 8];
const CHUNK_POINTS = 50000;
const COUNTS = [1, 2, 255, CHUNK_POINTS, CHUNK_POINTS + 1];

// Made without mote, compressed by mote, decoded by laz-perf.
function compressed(o, { format, count, extraBytes }) {
    const name = `format ${format}, ${count} points, ${extraBytes} extra bytes`;
    return {
        name: `laz-perf reads mote's .laz, ${name}`,
        async run() {
            const [las, laz] = ['las', 'laz'].map((ending) => join(o.scratch, `scan.${ending}`));
            const made = makeLas(las, { format, count, extraBytes, seed: 1 + format });
            runMote(o.mote, 'convert', las, '-o', laz);
            const got = await decodeWithLazPerf(readFileSync(laz));
            assert.equal(got.format, format, 'point format');
            assert.equal(got.recordBytes, made.recordBytes, 'bytes of a record');
            assertSameRecords(got.records, made.records, made.recordBytes);
            return `${readFileSync(laz).length} bytes, of ${made.records.length}`;
        },
    };
}

// The octree that mote writes of a LAS file: the points of its records, each once; and read as a plain LAZ file.
export async function checkCopc(o, las, expected, ...options) {
    const path = join(o.scratch, 'scan.copc.laz');
    runMote(o.mote, 'lod', las, '-o', path, ...options);
    const found = await readCopc(path);
    assert.equal(found.header.format, expected.header.format, 'point format');
    const bytes = found.header.recordBytes;
    assert.equal(bytes, expected.header.recordBytes, 'bytes of a record');
    assertSameSet([...eachRecord(found.records, bytes)], [...eachRecord(expected.records, bytes)]);
    const whole = await decodeWithLazPerf(readFileSync(path));
    assertSameRecords(whole.records, found.records, bytes);
    return { ...found, text: `${found.header.count} points in ${found.nodes} nodes, ${found.pages} pages` };
}

function octree(o, { format, count, extraBytes }) {
    return {
        name: `copc reads mote's .copc.laz, format ${format}, ${count} points, ${extraBytes} extra bytes`,
        async run() {
            const las = join(o.scratch, 'scan.las');
            makeLas(las, { format, count, extraBytes, seed: 7 + format });
            return (await checkCopc(o, las, readLas(las))).text;
        },
    };
}

// A town in so many small nodes that the hierarchy has several pages.
function city(o) {
    return {
        name: "copc reads mote's .copc.laz of a city in small nodes",
        async run() {
            const las = join(o.scratch, 'city.las');
            runMote(o.mote, 'gen', 'city', '-o', las, '-n', '40k');
            const found = await checkCopc(o, las, readLas(las), '--grid', '8', '--merge', '20');
            assert.ok(found.pages > 1 && found.depth > 5, `several pages, a deep tree: ${found.text}`);
            return found.text;
        },
    };
}

// Legacy formats become 6 or 7; what they become as plain LAS is what the octree must hold.
function legacyOctree(o, format) {
    return {
        name: `copc reads mote's .copc.laz of a scan in format ${format}`,
        async run() {
            const [las, modern] = ['scan', 'modern'].map((name) => join(o.scratch, `${name}.las`));
            makeLas(las, { format, count: 70000, seed: 90 + format });
            runMote(o.mote, 'convert', las, '-o', modern, '--point-format', format >= 2 ? '7' : '6');
            return (await checkCopc(o, las, readLas(modern))).text;
        },
    };
}

export function writtenByMote(o) {
    const rows = [];
    for (const format of FORMATS) {
        for (const extraBytes of [0, 3]) rows.push({ format, count: 120000, extraBytes });
        for (const count of COUNTS) rows.push({ format, count, extraBytes: 0 });
    }
    const octrees = [6, 7, 8].flatMap((format) => [
        { format, count: 100000, extraBytes: 0 },
        { format, count: 60000, extraBytes: 5 },
        { format, count: 1, extraBytes: 0 },
    ]);
    return [
        ...rows.map((row) => compressed(o, row)),
        ...octrees.map((row) => octree(o, row)),
        ...[0, 1, 2, 3].map((format) => legacyOctree(o, format)),
        city(o),
    ];
}
