// Real LAZ scans: what mote reads of them, and what it writes again, is what laz-perf reads.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseHeader, readLas } from './las_file.mjs';
import { decodeWithLazPerf } from './laz_perf.mjs';
import { runMote } from './mote.mjs';
import { assertSameRecords } from './records.mjs';
import { checkCopc } from './written_by_mote.mjs';

const MOST_POINTS = 900000;
// What laz-perf reads: these formats, and of the items neither version 1 (of LASzip 1) nor version 4.
const FORMATS = [0, 1, 2, 3, 6, 7, 8];
const OTHER_ITEMS = ['point-version-1-point-wise.laz', 'simple-laszip-compressor-version-1.2r0.laz', 'pdrf7-v4-1.4.laz'];

function scan(o, name) {
    return {
        name: `laz-perf and mote agree on ${name}`,
        async run() {
            const [plain, again] = ['scan.las', 'again.laz'].map((file) => join(o.scratch, file));
            const source = join(o.data, 'laz', name);
            runMote(o.mote, 'convert', source, '-o', plain);
            runMote(o.mote, 'convert', source, '-o', again);
            const expected = readLas(plain);
            const theirs = await decodeWithLazPerf(readFileSync(source));
            assertSameRecords(expected.records, theirs.records, theirs.recordBytes);
            const written = await decodeWithLazPerf(readFileSync(again));
            assert.equal(written.format, theirs.format, 'point format');
            assertSameRecords(written.records, theirs.records, theirs.recordBytes);
            return `${theirs.count} points of format ${theirs.format}`;
        },
    };
}

function octree(o, name) {
    return {
        name: `copc reads mote's .copc.laz of ${name}`,
        async run() {
            const source = join(o.data, 'laz', name);
            const modern = join(o.scratch, 'modern.las');
            runMote(o.mote, 'convert', source, '-o', modern);
            return (await checkCopc(o, source, readLas(modern))).text;
        },
    };
}

export function realScans(o) {
    if (o.data === null) return [];
    const folder = join(o.data, 'laz');
    const names = readdirSync(folder).filter((name) => {
        const header = parseHeader(readFileSync(join(folder, name)));
        const read = FORMATS.includes(header.format) && !OTHER_ITEMS.includes(name);
        return read && header.count > 0 && header.count <= MOST_POINTS;
    });
    const modern = ['append-bug.laz', 'ellipsoid-1.4.laz', 'test_semis_2021_0382_6565_LA93_IGN69_cropped.laz',
        'test_semis_2023_0292_6833_LA93_IGN69_extra_dims.laz'];
    return [...names.map((name) => scan(o, name)), ...modern.map((name) => octree(o, name))];
}
