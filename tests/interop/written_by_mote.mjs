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
            runMote(o.mote, 'convert', las, laz);
            const got = await decodeWithLazPerf(readFileSync(laz));
            assert.equal(got.format, format, 'point format');
            assert.equal(got.recordBytes, made.recordBytes, 'bytes of a record');
            assertSameRecords(got.records, made.records, made.recordBytes);
            return `${readFileSync(laz).length} bytes, of ${made.records.length}`;
        },
    };
}

// The octree that mote writes of a LAS file: the points of its records, each once; and read as a plain LAZ file.
export async function checkCopc(o, las, expected) {
    const path = join(o.scratch, 'scan.copc.laz');
    runMote(o.mote, 'lod', las, path);
    const found = await readCopc(path);
    assert.equal(found.header.format, expected.header.format, 'point format');
    const bytes = found.header.recordBytes;
    assert.equal(bytes, expected.header.recordBytes, 'bytes of a record');
    assertSameSet([...eachRecord(found.records, bytes)], [...eachRecord(expected.records, bytes)]);
    const whole = await decodeWithLazPerf(readFileSync(path));
    assertSameRecords(whole.records, found.records, bytes);
    return `${found.header.count} points in ${found.nodes} nodes, depth ${found.depth}, ${found.pages} pages`;
}

function octree(o, { format, count, extraBytes }) {
    return {
        name: `copc reads mote's .copc.laz, format ${format}, ${count} points, ${extraBytes} extra bytes`,
        async run() {
            const las = join(o.scratch, 'scan.las');
            makeLas(las, { format, count, extraBytes, seed: 7 + format });
            return checkCopc(o, las, readLas(las));
        },
    };
}

// Legacy formats become 6 or 7; what they become as plain LAS is what the octree must hold.
function convertedOctree(o, format) {
    return {
        name: `copc reads mote's .copc.laz of a city in format ${format}`,
        async run() {
            const [city, las, modern] = ['city', 'old', 'new'].map((name) => join(o.scratch, `${name}.las`));
            runMote(o.mote, 'gen', 'city', city, '-n', '300k');
            runMote(o.mote, 'convert', city, las, '--point-format', String(format));
            const target = format === 2 || format === 3 || format >= 7 ? 7 : 6;
            runMote(o.mote, 'convert', las, modern, '--point-format', String(target), '--las-version', '1.4');
            return checkCopc(o, las, readLas(modern));
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
        ...[1, 3, 7].map((format) => convertedOctree(o, format)),
    ];
}
