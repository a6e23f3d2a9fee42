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
    for (let y = 0; y < height; y++) {
        const filter = raw[y * (row + 1)];
        for (let x = 0; x < row; x++) {
            const a = x >= channels ? out[y * row + x - channels] : 0;
            const b = y > 0 ? out[(y - 1) * row + x] : 0;
            const c = x >= channels && y > 0 ? out[(y - 1) * row + x - channels] : 0;
            const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
            const paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
            const add = [0, a, b, (a + b) >> 1, paeth][filter];
            out[y * row + x] = raw[y * (row + 1) + 1 + x] + add;
        }
    }
    return { width, height, at: (x, y) => [0, 1, 2].map((k) => out[y * row + x * channels + k]) };
}
