// As much of LAS as the comparisons need, read without mote and without the packages under test.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const COMPRESSED = 0xc0; // bits 7 and 6 of the point format
const BASE_BYTES = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67];

const three = (bytes, at) => [0, 8, 16].map((k) => bytes.readDoubleLE(at + k));

export function parseHeader(bytes) {
    assert.equal(bytes.toString('latin1', 0, 4), 'LASF', 'the signature');
    const minor = bytes.readUInt8(25);
    const format = bytes.readUInt8(104) & ~COMPRESSED;
    const legacyCount = bytes.readUInt32LE(107);
    const box = three(bytes, 179).map((_, k) => [bytes.readDoubleLE(187 + 16 * k), bytes.readDoubleLE(179 + 16 * k)]);
    return {
        minor,
        format,
        compressed: (bytes.readUInt8(104) & COMPRESSED) !== 0,
        pointsAt: bytes.readUInt32LE(96),
        recordBytes: bytes.readUInt16LE(105),
        extraBytes: bytes.readUInt16LE(105) - BASE_BYTES[format],
        count: minor >= 4 ? Number(bytes.readBigUInt64LE(247)) : legacyCount,
        scale: three(bytes, 131),
        offset: three(bytes, 155),
        min: box.map((axis) => axis[0]),
        max: box.map((axis) => axis[1]),
    };
}

// A plain LAS file: its header and the bytes of its records.
export function readLas(path) {
    const bytes = readFileSync(path);
    const header = parseHeader(bytes);
    assert.ok(!header.compressed, `${path} is not compressed`);
    const end = header.pointsAt + header.count * header.recordBytes;
    assert.ok(end <= bytes.length, `${path} holds all its records`);
    return { header, records: bytes.subarray(header.pointsAt, end) };
}

// Where in a record the parts stand that all formats with them hold in the same form.
const GPS_AT = [null, 20, null, 20, 20, 20, 22, 22, 22, 22, 22];
const RGB_AT = [null, null, 20, 28, null, 28, null, 30, 30, null, 30];

export const partsOf = (a, b) => ({
    gps: GPS_AT[a] !== null && GPS_AT[b] !== null,
    rgb: RGB_AT[a] !== null && RGB_AT[b] !== null,
});

// The world coordinates of a record.
export function position(record, header) {
    return [0, 1, 2].map((k) => record.readInt32LE(4 * k) * header.scale[k] + header.offset[k]);
}

// What any change of format, scale or offset keeps of a record, as bytes: the position in steps (world units),
// intensity, and where both formats have them GPS time and colour.
export function commonParts(record, header, parts, step) {
    const steps = Float64Array.from(position(record, header), (value, k) => Math.round(value / step[k]));
    const pieces = [Buffer.from(steps.buffer), record.subarray(12, 14)];
    if (parts.gps) pieces.push(record.subarray(GPS_AT[header.format], GPS_AT[header.format] + 8));
    if (parts.rgb) pieces.push(record.subarray(RGB_AT[header.format], RGB_AT[header.format] + 6));
    return Buffer.concat(pieces);
}
