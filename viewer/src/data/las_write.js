// LAS 1.4, point format 7, of a few points: what of their attributes has a place there. Pure.
// Source: ASPRS LAS 1.4 R15.
import { parseWkt } from './crs.js';

export const HEADER_BYTES = 375;
export const VLR_BYTES = 54;
export const RECORD_BYTES = 36;
export const FORMAT = 7;
export const WKT_BIT = 1 << 4; // of the global encoding: formats 6 and later have no other reference system
const ANGLE_STEP = 0.006; // degrees, of a scan angle

// The attributes that a record has a place for.
export const PLACED = new Set(['intensity', 'return number', 'number of returns', 'classification flags', 'scanner channel', 'scan direction flag', 'edge of flight line', 'classification', 'user data',
    'scan angle', 'scan angle rank', 'point source id', 'gps-time', 'red', 'green', 'blue']);

export const putText = (view, at, text) => [...new TextEncoder().encode(text)].forEach((byte, i) => view.setUint8(at + i, byte));

// values(name): the numbers of an attribute by its name in Potree folders, or null.
export function putRecord(view, at, point, i, values) {
    const of = (name) => values(name)?.[i] ?? 0;
    point.forEach((c, k) => view.setInt32(at + 4 * k, c, true));
    view.setUint16(at + 12, of('intensity'), true);
    view.setUint8(at + 14, (Math.max(1, of('return number')) & 15) | ((Math.max(1, of('number of returns')) & 15) << 4));
    view.setUint8(at + 15, (of('classification flags') & 15) | ((of('scanner channel') & 3) << 4) | ((of('scan direction flag') & 1) << 6) | ((of('edge of flight line') & 1) << 7));
    view.setUint8(at + 16, of('classification'));
    view.setUint8(at + 17, of('user data'));
    view.setInt16(at + 18, Math.round((values('scan angle')?.[i] ?? values('scan angle rank')?.[i] ?? 0) / ANGLE_STEP), true);
    view.setUint16(at + 20, of('point source id'), true);
    view.setFloat64(at + 22, of('gps-time'), true);
    ['red', 'green', 'blue'].forEach((name, k) => view.setUint16(at + 30 + 2 * k, of(name), true));
}

function putHeader(view, { scale, offset, globalEncoding }, steps, vlrBytes) {
    const count = steps.length;
    putText(view, 0, 'LASF');
    view.setUint16(6, (globalEncoding & 1) | WKT_BIT, true);
    view.setUint8(24, 1);
    view.setUint8(25, 4);
    putText(view, 26, 'EXTRACTION');
    putText(view, 58, 'mote');
    view.setUint16(94, HEADER_BYTES, true);
    view.setUint32(96, HEADER_BYTES + vlrBytes, true);
    view.setUint32(100, vlrBytes > 0 ? 1 : 0, true);
    view.setUint8(104, FORMAT);
    view.setUint16(105, RECORD_BYTES, true);
    scale.forEach((s, k) => view.setFloat64(131 + 8 * k, s, true));
    offset.forEach((o, k) => view.setFloat64(155 + 8 * k, o, true));
    for (let k = 0; k < 3; k++) {
        let [low, high] = [Infinity, -Infinity];
        for (const p of steps) [low, high] = [Math.min(low, p[k]), Math.max(high, p[k])];
        view.setFloat64(179 + 16 * k, count > 0 ? high * scale[k] + offset[k] : 0, true);
        view.setFloat64(187 + 16 * k, count > 0 ? low * scale[k] + offset[k] : 0, true);
    }
    view.setBigUint64(247, BigInt(count), true);
}

// cloud { scale, offset, globalEncoding, wkt: or another text, which is left out }; steps: of each point its coordinates as
// integers; values(name): see above. Returns an ArrayBuffer.
export function writeLas(cloud, steps, values) {
    const wkt = parseWkt(cloud.wkt) ? new TextEncoder().encode(`${cloud.wkt}\0`) : new Uint8Array(0);
    const vlrBytes = wkt.length > 0 && wkt.length < 65536 ? VLR_BYTES + wkt.length : 0;
    const bytes = new ArrayBuffer(HEADER_BYTES + vlrBytes + RECORD_BYTES * steps.length);
    const view = new DataView(bytes);
    putHeader(view, cloud, steps, vlrBytes);
    if (vlrBytes > 0) {
        putText(view, HEADER_BYTES + 2, 'LASF_Projection');
        view.setUint16(HEADER_BYTES + 18, 2112, true);
        view.setUint16(HEADER_BYTES + 20, wkt.length, true);
        new Uint8Array(bytes).set(wkt, HEADER_BYTES + VLR_BYTES);
    }
    const byReturn = new Array(15).fill(0);
    steps.forEach((point, i) => {
        putRecord(view, HEADER_BYTES + vlrBytes + RECORD_BYTES * i, point, i, values);
        const number = view.getUint8(HEADER_BYTES + vlrBytes + RECORD_BYTES * i + 14) & 15;
        byReturn[number - 1]++;
    });
    byReturn.forEach((n, i) => view.setBigUint64(255 + 8 * i, BigInt(n), true));
    return bytes;
}
