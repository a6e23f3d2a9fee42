// The pixels of a screenshot: a reader for the PNGs that browsers write (8-bit RGB or RGBA, not interlaced).
import { inflateSync } from 'node:zlib';

export function readPng(png) {
    const width = png.readUInt32BE(16);
    const height = png.readUInt32BE(20);
    const channels = { 2: 3, 6: 4 }[png[25]];
    if (png[24] !== 8 || !channels || png[28] !== 0) throw new Error('not an 8-bit RGB or RGBA PNG');
    const parts = [];
    for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
        if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    }
    const raw = inflateSync(Buffer.concat(parts));
    const row = width * channels;
    const out = Buffer.alloc(row * height);
    for (let y = 0; y < height; y++) unfilter(raw, y * (row + 1), out, y * row, row, channels);
    const at = (x, y) => {
        const pixel = y * row + x * channels;
        return [out[pixel], out[pixel + 1], out[pixel + 2]];
    };
    return { width, height, pixels: out, channels, at };
}

// A row of the picture from its differences to the pixels to the left (a), above (b), and left of that (c). Pictures have
// two million bytes and the checks look at hundreds: a loop of its own for each filter.
function unfilter(raw, from, out, to, row, channels) {
    const filter = raw[from++];
    const above = to - row;
    if (filter === 0 || (filter === 2 && to === 0)) {
        raw.copy(out, to, from, from + row);
    } else if (filter === 1) {
        for (let x = 0; x < row; x++) out[to + x] = raw[from + x] + (x >= channels ? out[to + x - channels] : 0);
    } else if (filter === 2) {
        for (let x = 0; x < row; x++) out[to + x] = raw[from + x] + out[above + x];
    } else {
        for (let x = 0; x < row; x++) {
            const a = x >= channels ? out[to + x - channels] : 0;
            const b = to > 0 ? out[above + x] : 0;
            const c = x >= channels && to > 0 ? out[above + x - channels] : 0;
            out[to + x] = raw[from + x] + (filter === 3 ? (a + b) >> 1 : paeth(a, b, c));
        }
    }
}

function paeth(a, b, c) {
    const pa = Math.abs(b - c);
    const pb = Math.abs(a - c);
    const pc = Math.abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}
