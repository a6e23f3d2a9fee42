// One node's bytes become arrays for the GPU. Pure: no DOM, no network; the workers and the tests call the same code.
import { DataError, told } from './errors.js';
import { TYPES } from './attributes.js';
import { table } from './table.js';

// Keeps every third bit of 24 and closes the gaps: one axis of an interleaved word.
export function compact3(x) {
    x &= 0x249249;
    x = (x ^ (x >>> 2)) & 0x0c30c3;
    x = (x ^ (x >>> 4)) & 0x00f00f;
    return (x ^ (x >>> 8)) & 0xff;
}

// One axis (0, 1, 2) of a 48-bit Morton word given as its low and high 32 bits.
export function axis16(low, high, axis) {
    const lowPart = low & 0xffffff;
    const highPart = ((low >>> 24) | (high << 8)) & 0xffffff;
    return compact3(lowPart >>> axis) | (compact3(highPart >>> axis) << 8);
}

function positionReader(job, view) {
    const { layout, encoding, numPoints } = job;
    const out = [0, 0, 0];
    if (encoding !== 'BROTLI') {
        const { offset } = layout.position;
        return (i) => {
            const at = i * layout.stride + offset;
            out[0] = view.getInt32(at, true);
            out[1] = view.getInt32(at + 4, true);
            out[2] = view.getInt32(at + 8, true);
            return out;
        };
    }
    const column = layout.position.brotliOffset * numPoints;
    return (i) => {
        const at = column + i * 16;
        const highLow = view.getUint32(at, true);
        const highHigh = view.getUint32(at + 4, true);
        const lowLow = view.getUint32(at + 8, true);
        const lowHigh = view.getUint32(at + 12, true);
        for (let axis = 0; axis < 3; axis++)
            out[axis] = (axis16(highLow, highHigh, axis) << 16) | axis16(lowLow, lowHigh, axis);
        return out;
    };
}

function decodePositions(job, view) {
    const read = positionReader(job, view);
    const { scale, shift, numPoints } = job;
    const position = new Float32Array(numPoints * 3);
    const min = [Infinity, Infinity, Infinity];
    const max = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < numPoints; i++) {
        const lattice = read(i);
        for (let axis = 0; axis < 3; axis++) {
            // In double until the last step: the sum is small, the terms may be millions of metres.
            const value = lattice[axis] * scale[axis] + shift[axis];
            position[3 * i + axis] = value;
            if (value < min[axis]) min[axis] = value;
            if (value > max[axis]) max[axis] = value;
        }
    }
    return { position, box: { min, max } };
}

// The whole steps of the scale that a node's coordinates are, exact where floats are not.
function decodeSteps(job, view) {
    const read = positionReader(job, view);
    const steps = new Int32Array(job.numPoints * 3);
    for (let i = 0; i < job.numPoints; i++) steps.set(read(i), 3 * i);
    return steps;
}

const isWoven = ({ layout, encoding }, attribute) => encoding === 'BROTLI' && attribute === layout.rgb && attribute.type === 'uint16';

function rgbReader(job, view) {
    const { layout, numPoints } = job;
    const attribute = layout.rgb;
    const read = TYPES[attribute.type].read;
    const out = [0, 0, 0];
    if (isWoven(job, attribute)) {
        const column = attribute.brotliOffset * numPoints;
        return (i) => {
            const low = view.getUint32(column + i * 8, true);
            const high = view.getUint32(column + i * 8 + 4, true);
            for (let c = 0; c < 3; c++) out[c] = axis16(low, high, c);
            return out;
        };
    }
    const [start, step] = columnOf(job, attribute);
    return (i) => {
        for (let c = 0; c < 3; c++) out[c] = read(view, start + i * step + c * attribute.typeSize);
        return out;
    };
}

// The whole data set is 8-bit or 16-bit; where the metadata does not say, the root node's colours decide.
function decideShift(job, read) {
    if (job.rgbShift !== null) return job.rgbShift;
    for (let i = 0; i < job.numPoints; i++) {
        if (Math.max(...read(i)) > 255) return 8;
    }
    return 0;
}

const MAX_LEVEL = 65535;
const DARK = MAX_LEVEL / 3;
const SHOWN_AS = 0.8 * MAX_LEVEL;

// How many times brighter dark colours are drawn, as in src/render/points/render_exposure.c: where the brightest channel of nine
// tenths of the points that are not black is below a third of white, what nine tenths do not exceed comes to 0.8 of white.
function findExposure(numPoints, read, white) {
    const counts = new Uint32Array(MAX_LEVEL + 1);
    for (let i = 0; i < numPoints; i++) {
        const level = Math.round((Math.max(...read(i)) / white) * MAX_LEVEL);
        if (level > 0) counts[Math.min(level, MAX_LEVEL)]++; // NaN is black
    }
    const coloured = counts.reduce((sum, count) => sum + count, 0);
    if (coloured === 0) return 1;
    let [level, below] = [0, 0];
    while (below < coloured - Math.floor(coloured / 10)) below += counts[++level];
    return level < DARK ? Math.round((100 * SHOWN_AS) / level) / 100 : 1;
}

// job.exposure: of the whole data set; null: this node decides.
function decodeRgb(job, view) {
    const read = rgbReader(job, view);
    const shift = decideShift(job, read);
    const { type } = job.layout.rgb;
    const isReal = type === 'float' || type === 'double';
    const white = isReal ? 1 : shift === 8 ? MAX_LEVEL : 255;
    const exposure = job.exposure ?? findExposure(job.numPoints, read, white);
    const shown = job.autoExposure ? exposure : 1;
    const rgb = new Uint8ClampedArray(job.numPoints * 4);
    for (let i = 0; i < job.numPoints; i++) {
        const colour = read(i);
        for (let c = 0; c < 3; c++) rgb[4 * i + c] = isReal || shown !== 1 ? ((colour[c] * 255) / white) * shown : Math.floor(colour[c] / 2 ** shift);
        rgb[4 * i + 3] = 255;
    }
    return { rgb: new Uint8Array(rgb.buffer), rgbShift: shift, exposure };
}

// Start and step in bytes of an attribute in this node's bytes.
function columnOf(job, attribute) {
    if (job.encoding === 'BROTLI') return [attribute.brotliOffset * job.numPoints, attribute.size];
    return [attribute.offset, job.layout.stride];
}

// Stands for NaN, infinities and no-data values, which have no place on a ramp. Finite itself, since shaders may not know NaN.
export const NO_VALUE = Math.fround(3.4e38);
export const hasValue = (stored) => stored < 3.3e38;

// Reads one number of an attribute, which may be a few bits of a byte.
function readerOf({ type, bits }) {
    const { read } = TYPES[type];
    return bits ? (view, at) => (read(view, at) >> bits.shift) & bits.mask : read;
}

const NARROW = table({ int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array });

function decodeChannel(job, view, channel) {
    const attribute = job.layout.attributes[channel.attribute];
    const read = readerOf(attribute);
    const [start, step] = columnOf(job, attribute);
    const first = start + channel.element * attribute.typeSize;
    // Colours of brotli are three in one word.
    const colours = isWoven(job, attribute) ? rgbReader(job, view) : null;
    const { noData = null } = channel; // a narrow array has no place for NO_VALUE
    const narrow = noData === null ? NARROW[attribute.type] : null;
    const values = new (channel.exact ? Float64Array : narrow ?? Float32Array)(job.numPoints);
    let min = Infinity;
    let max = -Infinity;
    for (let i = 0; i < job.numPoints; i++) {
        const stored = colours ? colours(i)[channel.element] : read(view, first + i * step);
        const value = stored === noData ? NaN : stored;
        const isFinite = Number.isFinite(value);
        if (isFinite && value < min) min = value;
        if (isFinite && value > max) max = value;
        values[i] = isFinite || channel.exact ? value - channel.base : NO_VALUE;
    }
    return { key: channel.key, values, range: min <= max ? [min, max] : null };
}

// job: { name, encoding, layout, numPoints, scale, shift, rgbShift, exposure, autoExposure, channels, geometry }
//   shift     added after scaling: data set offset minus the node's corner
//   channels  which scalar channels to decode; geometry  false: only those; steps  true: coordinates as integers, too;
//   raw       true: the records as well, as they are
// bytes: the node's bytes, decompressed. Returns { position, box, rgb, rgbShift, exposure,
// scalars, steps, raw }.
export function decodeNode(job, bytes) {
    const stride = job.encoding === 'BROTLI' ? job.layout.brotliStride : job.layout.stride;
    if (bytes.byteLength !== stride * job.numPoints)
        throw told(DataError, 'decode.bytes', { file: job.file ?? 'octree.bin', node: job.name, bytes: bytes.byteLength, points: job.numPoints, stride });
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const out = { position: null, box: null, rgb: null, rgbShift: job.rgbShift, exposure: job.exposure, scalars: [] };
    if (job.geometry) {
        Object.assign(out, decodePositions(job, view));
        if (job.layout.rgb) Object.assign(out, decodeRgb(job, view));
    }
    if (job.steps) out.steps = decodeSteps(job, view);
    if (job.raw) out.raw = bytes.slice();
    out.scalars = job.channels.map((channel) => decodeChannel(job, view, channel));
    return out;
}
