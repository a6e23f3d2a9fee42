// A LAS 1.4 file that grows by records of point formats 6 to 8, as many as there is memory for. Pure.
// Source: ASPRS LAS 1.4 R15.
import { FORMAT, HEADER_BYTES, putRecord, putText, PLACED, RECORD_BYTES, VLR_BYTES, WKT_BIT } from '../data/las_write.js';
import { parseWkt } from '../data/crs.js';

const OTHERS = new Set(['copc', 'laszip encoded']); // records about a structure that this file has not
const EXTRA_RECORD = 192;
const EXTRA_TYPES = ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'uint64', 'int64', 'float', 'double'];
const PUT = {
    uint8: (v, at, n) => v.setUint8(at, n), int8: (v, at, n) => v.setInt8(at, n), uint16: (v, at, n) => v.setUint16(at, n, true), int16: (v, at, n) => v.setInt16(at, n, true),
    uint32: (v, at, n) => v.setUint32(at, n, true), int32: (v, at, n) => v.setInt32(at, n, true), uint64: (v, at, n) => v.setBigUint64(at, BigInt(n), true), int64: (v, at, n) => v.setBigInt64(at, BigInt(n), true),
    float: (v, at, n) => v.setFloat32(at, n, true), double: (v, at, n) => v.setFloat64(at, n, true),
};
const SIZES = { uint8: 1, int8: 1, uint16: 2, int16: 2, uint32: 4, int32: 4, uint64: 8, int64: 8, float: 4, double: 8 };

function vlr(user, id, payload) {
    const out = new Uint8Array(VLR_BYTES + payload.length);
    const view = new DataView(out.buffer);
    putText(view, 2, user);
    view.setUint16(18, id, true);
    view.setUint16(20, payload.length, true);
    out.set(payload, VLR_BYTES);
    return out;
}

// The records of a COPC head that describe its points and their system.
function vlrsOf(head) {
    const view = new DataView(head);
    const out = [];
    for (let at = view.getUint16(94, true), n = view.getUint32(100, true); n > 0 && at + VLR_BYTES <= head.byteLength; n--) {
        const size = VLR_BYTES + view.getUint16(at + 20, true);
        const user = new TextDecoder().decode(new Uint8Array(head, at + 2, 16)).replace(/\0[\s\S]*$/, '');
        if (!OTHERS.has(user)) out.push(new Uint8Array(head, at, Math.min(size, head.byteLength - at)));
        at += size;
    }
    return out;
}

export class LasFile {
    // scale, offset: [3]; format, recordBytes: of the points; vlrs: as bytes; globalEncoding
    constructor(of) {
        Object.assign(this, of);
        this.parts = [];
        this.count = 0;
        this.byReturn = new Array(15).fill(0);
        this.low = [Infinity, Infinity, Infinity];
        this.high = [-Infinity, -Infinity, -Infinity];
    }

    // A file that holds records of a COPC file as they are.
    static like(head, { scale, offset }) {
        const view = new DataView(head);
        return new LasFile({ scale, offset, format: view.getUint8(104) & 0x3f, recordBytes: view.getUint16(105, true), vlrs: vlrsOf(head), globalEncoding: view.getUint16(6, true) });
    }

    // For attributes of any names: those that a record has no place for become extra bytes. channels: as exactChannels() gives them.
    static of({ scale, offset, projection, globalEncoding }, channels) {
        const extra = channels.filter(({ key }) => !PLACED.has(key.toLowerCase()));
        const described = new Uint8Array(EXTRA_RECORD * extra.length);
        const view = new DataView(described.buffer);
        let at = RECORD_BYTES;
        for (const [i, channel] of extra.entries()) {
            const { key, type, scale: step, shift } = channel;
            view.setUint8(EXTRA_RECORD * i + 2, EXTRA_TYPES.indexOf(type) + 1);
            view.setUint8(EXTRA_RECORD * i + 3, (step !== 1 ? 8 : 0) | (shift !== 0 ? 16 : 0));
            described.set(new TextEncoder().encode(key).slice(0, 32), EXTRA_RECORD * i + 4);
            view.setFloat64(EXTRA_RECORD * i + 112, step, true);
            view.setFloat64(EXTRA_RECORD * i + 136, shift, true);
            channel.at = at;
            at += SIZES[type];
        }
        const wkt = parseWkt(projection) ? new TextEncoder().encode(`${projection}\0`) : new Uint8Array(0);
        const vlrs = [...(wkt.length > 0 && wkt.length < 65536 ? [vlr('LASF_Projection', 2112, wkt)] : []), ...(extra.length > 0 ? [vlr('LASF_Spec', 4, described)] : [])];
        return Object.assign(new LasFile({ scale, offset, format: FORMAT, recordBytes: at, vlrs, globalEncoding: (globalEncoding & 1) | WKT_BIT }), { extra });
    }

    // Records as bytes.
    add(bytes) {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        for (let at = 0; at < bytes.byteLength; at += this.recordBytes) {
            for (let k = 0; k < 3; k++) {
                const step = view.getInt32(at + 4 * k, true);
                if (step < this.low[k]) this.low[k] = step;
                if (step > this.high[k]) this.high[k] = step;
            }
            const number = view.getUint8(at + 14) & 15;
            if (number > 0) this.byReturn[number - 1]++;
        }
        this.count += bytes.byteLength / this.recordBytes;
        this.parts.push(bytes);
    }

    // Points of a node as records: indices: which; steps: [x, y, z, x, …]; stored(key), values(key): as they are, and scaled.
    records(indices, steps, stored, values) {
        const bytes = new Uint8Array(indices.length * this.recordBytes);
        const view = new DataView(bytes.buffer);
        const extra = this.extra.map((channel) => [channel, stored(channel.key)]);
        indices.forEach((i, n) => {
            putRecord(view, n * this.recordBytes, steps.subarray(3 * i, 3 * i + 3), i, values);
            for (const [{ type, at }, list] of extra) PUT[type](view, n * this.recordBytes + at, list[i]);
        });
        return bytes;
    }

    head() {
        const vlrBytes = this.vlrs.reduce((sum, { length }) => sum + length, 0);
        const bytes = new Uint8Array(HEADER_BYTES + vlrBytes);
        const view = new DataView(bytes.buffer);
        putText(view, 0, 'LASF');
        view.setUint16(6, this.globalEncoding, true);
        bytes.set([1, 4], 24);
        putText(view, 26, 'EXTRACTION');
        putText(view, 58, 'mote');
        view.setUint16(94, HEADER_BYTES, true);
        view.setUint32(96, bytes.length, true);
        view.setUint32(100, this.vlrs.length, true);
        view.setUint8(104, this.format);
        view.setUint16(105, this.recordBytes, true);
        for (let k = 0; k < 3; k++) {
            const place = (steps) => (this.count > 0 ? steps * this.scale[k] + this.offset[k] : 0);
            view.setFloat64(131 + 8 * k, this.scale[k], true);
            view.setFloat64(155 + 8 * k, this.offset[k], true);
            view.setFloat64(179 + 16 * k, place(this.high[k]), true);
            view.setFloat64(187 + 16 * k, place(this.low[k]), true);
        }
        view.setBigUint64(247, BigInt(this.count), true);
        this.byReturn.forEach((n, i) => view.setBigUint64(255 + 8 * i, BigInt(n), true));
        let at = HEADER_BYTES;
        for (const record of this.vlrs) {
            bytes.set(record, at);
            at += record.length;
        }
        return bytes;
    }

    blob() {
        return new Blob([this.head(), ...this.parts], { type: 'application/octet-stream' });
    }
}
