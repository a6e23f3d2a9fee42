// The header of a COPC file, LAS 1.4, and the records behind it: what the viewer needs to know of them. Pure.
// Source: ASPRS LAS 1.4 R15; Hobu Inc., COPC 1.0; the LASzip record of M. Isenburg.
import { DataError, told } from '../errors.js';
import { TYPES } from '../attributes.js';
import { table } from '../table.js';

export const HEADER_BYTES = 375;
const VLR_BYTES = 54;
const INFO_AT = HEADER_BYTES + VLR_BYTES; // COPC: its record is always the first one
const INFO_BYTES = 160;
const COMPRESSED = 0x80; // of the point format
const LAYERED = 3; // the compressor of point formats 6 to 10
const EXTRA_BYTES_RECORD = 192;
const MAX_HEAD_BYTES = 64 * 1024 * 1024; // header and records: a hostile file could claim anything

// Parts of a record that the decoder can leave out, as in src/io/laz/laz.h.
export const Part = Object.freeze({
    Z: 1, CLASSIFICATION: 2, FLAGS: 4, INTENSITY: 8, SCAN_ANGLE: 16, USER_DATA: 32, POINT_SOURCE: 64, GPS_TIME: 128,
    RGB: 256, NIR: 512, EXTRA: 2048,
});

const FORMAT_BYTES = table({ 6: 30, 7: 36, 8: 38 });
// [name, type, elements, offset, part, [first bit, number of bits]]; names as Potree folders have them.
const FIELDS = [
    ['position', 'int32', 3, 0, Part.Z],
    ['intensity', 'uint16', 1, 12, Part.INTENSITY],
    ['return number', 'uint8', 1, 14, 0, [0, 4]],
    ['number of returns', 'uint8', 1, 14, 0, [4, 4]],
    ['classification flags', 'uint8', 1, 15, Part.FLAGS, [0, 4]],
    ['scanner channel', 'uint8', 1, 15, Part.FLAGS, [4, 2]],
    ['scan direction flag', 'uint8', 1, 15, Part.FLAGS, [6, 1]],
    ['edge of flight line', 'uint8', 1, 15, Part.FLAGS, [7, 1]],
    ['classification', 'uint8', 1, 16, Part.CLASSIFICATION],
    ['user data', 'uint8', 1, 17, Part.USER_DATA],
    ['scan angle', 'int16', 1, 18, Part.SCAN_ANGLE],
    ['point source id', 'uint16', 1, 20, Part.POINT_SOURCE],
    ['gps-time', 'double', 1, 22, Part.GPS_TIME],
    ['rgb', 'uint16', 3, 30, Part.RGB],
    ['nir', 'uint16', 1, 36, Part.NIR],
];
const EXTRA_TYPES = [null, 'uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64', 'float', 'double'];

const text = (bytes) => new TextDecoder().decode(bytes).replace(/\0[\s\S]*$/, '').trim();
const doubles = (view, at, count) => Array.from({ length: count }, (_, i) => view.getFloat64(at + 8 * i, true));

function number64(view, at) {
    const value = Number(view.getBigUint64(at, true));
    if (!Number.isSafeInteger(value)) throw told(DataError, 'copc.count', { value });
    return value;
}

function attribute(name, type, numElements, offset, part, index, more = {}) {
    const size = TYPES[type].size;
    return {
        name, description: '', type, typeSize: size, numElements, size: size * numElements, index, offset, part, brotliOffset: 0,
        min: [], max: [], scale: [], shift: [], noData: [], histogram: [], ...more,
    };
}

// How many bytes stand before the first point, from the first bytes of the file.
export function headBytes(bytes) {
    const view = new DataView(bytes);
    if (bytes.byteLength < INFO_AT + INFO_BYTES || text(new Uint8Array(bytes, 0, 4)) !== 'LASF')
        throw told(DataError, 'copc.las');
    const isCopc = view.getUint8(24) === 1 && view.getUint8(25) === 4 && text(new Uint8Array(bytes, HEADER_BYTES + 2, 16)) === 'copc'
        && view.getUint16(HEADER_BYTES + 18, true) === 1;
    if (!isCopc) throw told(DataError, 'copc.none');
    const size = view.getUint32(96, true);
    if (size < INFO_AT + INFO_BYTES || size > MAX_HEAD_BYTES) throw told(DataError, 'copc.begin', { size });
    return size;
}

// { user, id, payload } of each variable-length record.
function records(view, bytes) {
    const list = [];
    const count = view.getUint32(100, true);
    for (let at = view.getUint16(94, true); list.length < count && at + VLR_BYTES <= bytes.byteLength;) {
        const size = view.getUint16(at + 20, true);
        if (at + VLR_BYTES + size > bytes.byteLength) break;
        list.push({
            user: text(new Uint8Array(bytes, at + 2, 16)), id: view.getUint16(at + 18, true), payload: bytes.slice(at + VLR_BYTES, at + VLR_BYTES + size),
        });
        at += VLR_BYTES + size;
    }
    return list;
}

// The version of the items that records are compressed as; the layered compressor is the only one of these formats.
function itemVersion(vlr) {
    const view = vlr && new DataView(vlr.payload);
    if (!view || view.byteLength < 40 || view.getUint16(0, true) !== LAYERED)
        throw told(DataError, 'copc.laszip');
    const version = view.getUint16(38, true);
    if (version < 2 || version > 4) throw told(DataError, 'copc.version', { version });
    return version;
}

// The no-data values, in 8 bytes each whatever their type: int64, uint64 or double.
function noDataOf(view, at, type, elements) {
    const read = /^u/.test(type) ? (from) => Number(view.getBigUint64(from, true))
        : /^int/.test(type) ? (from) => Number(view.getBigInt64(from, true))
        : type === 'float' ? (from) => Math.fround(view.getFloat64(from, true)) : (from) => view.getFloat64(from, true);
    return Array.from({ length: elements }, (_, i) => read(at + 8 * i));
}

// Attributes of the extra bytes, at `offset` of the record, as far as they are described and fit.
function extraAttributes(vlr, offset, recordBytes, index) {
    const out = [];
    const view = vlr && new DataView(vlr.payload);
    for (let at = 0; view && at + EXTRA_BYTES_RECORD <= view.byteLength; at += EXTRA_BYTES_RECORD) {
        const kind = view.getUint8(at + 2);
        const options = view.getUint8(at + 3);
        const name = text(new Uint8Array(vlr.payload, at + 4, 32)) || `extra ${out.length + 1}`;
        const type = EXTRA_TYPES[kind === 0 ? 0 : ((kind - 1) % 10) + 1];
        const elements = kind === 0 ? options : Math.floor((kind - 1) / 10) + 1;
        const size = (type ? TYPES[type].size : 1) * elements;
        if (kind > 30 || offset + size > recordBytes) break;
        if (type) {
            const numbers = (from, bit) => (options & bit ? doubles(view, at + from, elements) : []);
            out.push(attribute(name, type, elements, offset, Part.EXTRA, index + out.length, {
                description: text(new Uint8Array(vlr.payload, at + 160, 32)), scale: numbers(112, 8), shift: numbers(136, 16),
                noData: options & 1 ? noDataOf(view, at + 40, type, elements) : [],
            }));
        }
        offset += size;
    }
    return out;
}

function layoutOf(format, recordBytes, vlrs, gpsRange) {
    const plain = FIELDS.filter(([, type, elements, offset]) => offset + TYPES[type].size * elements <= FORMAT_BYTES[format]);
    const attributes = plain.map(([name, type, elements, offset, part, bits], i) =>
        attribute(name, type, elements, offset, part, i, bits ? { bits: { shift: bits[0], mask: 2 ** bits[1] - 1 } } : {}));
    const extra = vlrs.find(({ user, id }) => user === 'LASF_Spec' && id === 4);
    attributes.push(...extraAttributes(extra, FORMAT_BYTES[format], recordBytes, attributes.length));
    const time = attributes.find((a) => a.name === 'gps-time');
    if (gpsRange.every(Number.isFinite) && gpsRange[1] >= gpsRange[0] && gpsRange[1] !== 0) Object.assign(time, { min: [gpsRange[0]], max: [gpsRange[1]] });
    return {
        attributes, stride: recordBytes, brotliStride: recordBytes, position: attributes[0],
        rgb: attributes.find((a) => a.name === 'rgb') ?? null,
    };
}

// The reference system: as WKT, or the code of GeoTIFF keys (OGC GeoTIFF 1.1: model 1024, projected 3072, geographic 2048), by
// the rule of src/io/las/las_crs.c. geo: the records of the keys, which say more of its units.
function systemOf(vlrs) {
    const record = (id) => vlrs.find((vlr) => vlr.user === 'LASF_Projection' && vlr.id === id)?.payload;
    const bytes = (id) => record(id) && new Uint8Array(record(id));
    const geo = { keys: bytes(34735), numbers: bytes(34736) };
    const wkt = record(2112) && text(new Uint8Array(record(2112)));
    if (/[[(]/.test(wkt ?? '') || !record(34735)) return { projection: wkt ?? '', geo };
    const view = new DataView(record(34735));
    const codes = new Map();
    for (let at = 8; at + 8 <= view.byteLength; at += 8) if (view.getUint16(at + 2, true) === 0) codes.set(view.getUint16(at, true), view.getUint16(at + 6, true));
    const code = codes.get(3072) || (codes.get(1024) !== 1 && codes.get(2048)) || 0;
    return { projection: code >= 1024 && code < 32767 ? `EPSG:${code}` : '', geo };
}

// How many points are first, second, … returns.
const countsByReturn = (view) => Array.from({ length: 15 }, (_, i) => Number(view.getBigUint64(255 + 8 * i, true)));

// bytes: the first headBytes() of the file. Returns what metadata.json says of a Potree folder (json), the layout of a
// record, where the hierarchy begins, and how records are compressed.
export function parseHeader(bytes, name) {
    const view = new DataView(bytes);
    const format = view.getUint8(104) & 0x3f;
    const recordBytes = view.getUint16(105, true);
    if (!FORMAT_BYTES[format] || !(view.getUint8(104) & COMPRESSED) || recordBytes < FORMAT_BYTES[format])
        throw told(DataError, 'copc.format', { format, bytes: recordBytes });
    const vlrs = records(view, bytes);
    const points = number64(view, 247);
    const [x, y, z, half, spacing] = doubles(view, INFO_AT, 5);
    const gpsRange = doubles(view, INFO_AT + 56, 2);
    if (![x, y, z, half, spacing].every(Number.isFinite) || !(half >= 0))
        throw told(DataError, 'copc.cube');
    const layout = layoutOf(format, recordBytes, vlrs, gpsRange);
    const bounds = doubles(view, 179, 6); // largest and smallest x, y, z
    Object.assign(layout.position, { min: [bounds[1], bounds[3], bounds[5]], max: [bounds[0], bounds[2], bounds[4]] });
    const { projection, geo } = systemOf(vlrs);
    return {
        layout, geo,
        root: { offset: number64(view, INFO_AT + 40), size: number64(view, INFO_AT + 48) },
        laz: { format, version: itemVersion(vlrs.find(({ user, id }) => user === 'laszip encoded' && id === 22204)), recordBytes },
        json: {
            name, points, spacing, encoding: 'LAZ', scale: doubles(view, 131, 3), offset: doubles(view, 155, 3),
            projection,
            boundingBox: { min: [x - half, y - half, z - half], max: [x + half, y + half, z + half] },
            hierarchy: { firstChunkSize: number64(view, INFO_AT + 48) },
            mote: { las: { global_encoding: view.getUint16(6, true) }, hasReturns: countsByReturn(view).some((n, i) => i > 0 && n > 0) },
        },
    };
}
