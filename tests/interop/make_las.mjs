// LAS files made without mote: every field moves, in small steps, jumps and repetitions.
import { writeFileSync } from 'node:fs';

const RECORD_BYTES = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67];
const SCALE = 0.01;

// Numbers in [0, 1), the same for the same seed.
function mulberry32(seed) {
    let a = seed >>> 0;
    return () => {
        a = (a + 0x6d2b79f5) >>> 0;
        let t = Math.imul(a ^ (a >>> 15), a | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

// Scan lines over a rough ground; now and then far away.
function nextPosition(p, random) {
    p.x += Math.round((random() - 0.3) * 60);
    p.y += Math.round((random() - 0.5) * 6);
    p.z += Math.round((random() - 0.5) * 20);
    if (p.x > 200000) p.x -= 200000;
    if (random() < 0.0005) {
        for (const axis of ['x', 'y', 'z']) p[axis] = Math.floor(random() * 4e5 - 2e5);
    }
}

// A field of 8 or 16 bits stays, moves by a step or jumps.
function nextByte(record, at, random) {
    const kind = random();
    if (kind < 0.7) return;
    record[at] = kind < 0.95 ? record[at] + 1 : Math.floor(random() * 256);
}

// Times of several beams, each with its own step; repeated, and at times anything.
function nextTime(beams, beam, random) {
    const kind = random();
    const b = beams[beam];
    if (kind < 0.3) return b.time;
    if (kind > 0.999) b.time = random() * 1e9;
    b.time += kind < 0.9 ? b.step : b.step * Math.floor(random() * 700 - 100);
    return b.time;
}

function fillModern(record, beams, random) {
    if (random() < 0.3) record[14] = 1 + Math.floor(random() * 15) * 17;
    nextByte(record, 15, random); // flags, scanner channel, direction, edge
    for (const at of [16, 17, 18, 20]) nextByte(record, at, random);
    record.writeDoubleLE(nextTime(beams, (record[15] >> 4) & 3, random), 22);
}

function fillLegacy(record, format, beams, random) {
    for (const at of [14, 15, 16, 17, 18]) nextByte(record, at, random);
    if (format === 1 || format >= 3) record.writeDoubleLE(nextTime(beams, Math.floor(random() * 1.2), random), 20);
}

function makeRecords({ format, count, extraBytes, seed }) {
    const random = mulberry32(seed);
    const recordBytes = RECORD_BYTES[format] + extraBytes;
    const records = Buffer.alloc(count * recordBytes);
    const record = Buffer.alloc(recordBytes);
    const p = { x: 0, y: 0, z: 0 };
    const beams = [0, 1, 2, 3].map((i) => ({ time: 3e8 + i, step: 1e-5 * (1 + i) }));
    const rest = format >= 6 ? 30 : format === 1 || format >= 3 ? 28 : 20;
    for (let i = 0; i < count; i++) {
        nextPosition(p, random);
        record.writeInt32LE(p.x, 0);
        record.writeInt32LE(p.y, 4);
        record.writeInt32LE(p.z, 8);
        for (const at of [12, 13]) nextByte(record, at, random);
        if (format >= 6) fillModern(record, beams, random);
        else fillLegacy(record, format, beams, random);
        for (let at = rest; at < recordBytes; at++) nextByte(record, at, random);
        record.copy(records, i * recordBytes);
    }
    return { records, recordBytes };
}

function boundsOf(records, recordBytes) {
    const bounds = [0, 1, 2].map(() => [Infinity, -Infinity]);
    for (let at = 0; at < records.length; at += recordBytes) {
        bounds.forEach((b, k) => {
            const value = records.readInt32LE(at + 4 * k) * SCALE;
            b[0] = Math.min(b[0], value);
            b[1] = Math.max(b[1], value);
        });
    }
    return bounds.map((b) => (b[0] > b[1] ? [0, 0] : b));
}

function makeHeader(format, count, recordBytes, bounds) {
    const modern = format >= 6;
    const header = Buffer.alloc(modern ? 375 : 227);
    header.write('LASF', 0, 'latin1');
    header[24] = 1;
    header[25] = modern ? 4 : 2;
    header.writeUInt16LE(modern ? 16 : 0, 6); // the coordinate system would be given as text
    header.writeUInt16LE(header.length, 94);
    header.writeUInt32LE(header.length, 96);
    header[104] = format;
    header.writeUInt16LE(recordBytes, 105);
    header.writeUInt32LE(modern ? 0 : count, 107);
    for (let k = 0; k < 3; k++) {
        header.writeDoubleLE(SCALE, 131 + 8 * k);
        header.writeDoubleLE(bounds[k][1], 179 + 16 * k);
        header.writeDoubleLE(bounds[k][0], 187 + 16 * k);
    }
    if (modern) header.writeBigUInt64LE(BigInt(count), 247);
    return header;
}

// Writes a LAS file of a point format with so many bytes that no record describes; returns its records.
export function makeLas(path, { format, count, extraBytes = 0, seed = 1 }) {
    const { records, recordBytes } = makeRecords({ format, count, extraBytes, seed });
    const header = makeHeader(format, count, recordBytes, boundsOf(records, recordBytes));
    writeFileSync(path, Buffer.concat([header, records]));
    return { records, recordBytes };
}
