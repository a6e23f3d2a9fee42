// The layout of one point record: names, types, sizes, and how a value of each type is read.
import { DataError, told } from './errors.js';
import { timeKind } from './time_kind.js';
import { numberOf, table, textOf } from './table.js';

// 64-bit integers become numbers: beyond 2^53 they lose their last digits, which a colour ramp never shows.
export const TYPES = table({
    int8: { size: 1, read: (v, o) => v.getInt8(o) },
    uint8: { size: 1, read: (v, o) => v.getUint8(o) },
    int16: { size: 2, read: (v, o) => v.getInt16(o, true) },
    uint16: { size: 2, read: (v, o) => v.getUint16(o, true) },
    int32: { size: 4, read: (v, o) => v.getInt32(o, true) },
    uint32: { size: 4, read: (v, o) => v.getUint32(o, true) },
    int64: { size: 8, read: (v, o) => Number(v.getBigInt64(o, true)) },
    uint64: { size: 8, read: (v, o) => Number(v.getBigUint64(o, true)) },
    float: { size: 4, read: (v, o) => v.getFloat32(o, true) },
    double: { size: 8, read: (v, o) => v.getFloat64(o, true) },
});

const BROTLI_POSITION_BYTES = 16; // two Morton words of 3 x 16 bits, each in 8 bytes
const BROTLI_RGB_BYTES = 8; // one Morton word of 3 x 16 bits in 8 bytes

// null stands for NaN in JSON.
const numbers = (list) => (Array.isArray(list) ? list.map(numberOf) : []);

function parseAttribute(raw, position) {
    const type = TYPES[textOf(raw?.type)];
    const name = textOf(raw?.name);
    const numElements = numberOf(raw?.numElements);
    if (!type) throw told(DataError, 'meta.type', { name, type: textOf(raw?.type) });
    if (!Number.isInteger(numElements) || numElements < 1 || numElements > 1024)
        throw told(DataError, 'meta.elements', { name, n: textOf(raw?.numElements) || '?' });
    return {
        name,
        description: textOf(raw.description),
        type: raw.type,
        typeSize: type.size,
        numElements,
        size: type.size * numElements,
        index: position,
        min: numbers(raw.min),
        max: numbers(raw.max),
        scale: numbers(raw.scale),
        shift: numbers(raw.offset),
        noData: numbers(raw.noData), // no-data values, as stored; empty where there are none
        histogram: numbers(raw.histogram),
    };
}

export const isPosition = (a) => /^position(_cartesian)?$/i.test(a.name) && a.numElements === 3;
export const isRgb = (a) => /^rgba?$/i.test(a.name) && a.numElements >= 3;

function brotliSize(attribute) {
    if (isPosition(attribute)) return BROTLI_POSITION_BYTES;
    if (isRgb(attribute) && attribute.type === 'uint16') return BROTLI_RGB_BYTES;
    return attribute.size;
}

// Returns { attributes, stride, brotliStride, position, rgb }. Each attribute knows where it stands in a record
// (offset) and where its column starts per point in a BROTLI node (brotliOffset).
export function parseAttributes(list) {
    if (!Array.isArray(list) || list.length === 0) throw told(DataError, 'meta.attributes');
    const attributes = list.map(parseAttribute);
    let stride = 0;
    let brotliStride = 0;
    for (const a of attributes) {
        a.offset = stride;
        a.brotliOffset = brotliStride;
        a.brotliSize = brotliSize(a);
        stride += a.size;
        brotliStride += a.brotliSize;
    }
    const position = attributes.find(isPosition);
    if (!position) throw told(DataError, 'meta.position');
    if (position.type !== 'int32') throw told(DataError, 'meta.int32', { type: position.type });
    return { attributes, stride, brotliStride, position, rgb: attributes.find(isRgb) ?? null };
}

const SCAN_ANGLE_DEGREES = 0.006; // one step of the scan angle of LAS point formats 6 to 10
const INTEGER = /^u?int/;

// What a stored number is multiplied by, and what is added, to give the value that a person means.
function valueScale(attribute, element) {
    let scale = attribute.scale[element];
    const shift = attribute.shift[element];
    if (!Number.isFinite(scale) || scale === 0) scale = 1;
    if (/^scan[ _]angle$/i.test(attribute.name) && attribute.type === 'int16' && scale === 1) scale = SCAN_ANGLE_DEGREES;
    return [scale, Number.isFinite(shift) ? shift : 0];
}

const isAngle = (a) => /^scan[ _]angle([ _]rank)?$/i.test(a.name) && a.typeSize <= 2;
const isTime = (a) => /^gps[-_ ]?time$/i.test(a.name) && a.typeSize >= 4;

// ASPRS classes are whole numbers of 8 bits; files that were text once hold them in wider types.
function isClassification(a) {
    if (!/^classification$/i.test(a.name) || a.numElements !== 1 || !INTEGER.test(a.type)) return false;
    return a.type === 'uint8' || (a.min[0] >= 0 && a.max[0] <= 255);
}

// A channel is one number per point: an attribute, or one element of a longer one ("velocity [1]").
// globalEncoding: of the LAS header, where the writer kept it.
export function scalarChannels(layout, globalEncoding) {
    const channels = [];
    for (const a of layout.attributes) {
        if (a === layout.position || a === layout.rgb || a.numElements > 16) continue;
        for (let element = 0; element < a.numElements; element++) {
            const min = a.min[element];
            const max = a.max[element];
            const known = Number.isFinite(min) && Number.isFinite(max) && max >= min;
            const [scale, shift] = valueScale(a, element);
            const range = known ? [min * scale + shift, max * scale + shift].sort((x, y) => x - y) : null;
            channels.push({
                key: a.numElements === 1 ? a.name : `${a.name} [${element}]`,
                attribute: a.index,
                element,
                type: a.type,
                // GPU values are relative to the base, so that GPS times keep their fractions in 32-bit float.
                base: known && a.typeSize >= 4 ? min : 0,
                scale, // value = (stored - base + base) * scale + shift: what ranges and legends show
                shift,
                range,
                noData: Number.isFinite(a.noData[element]) ? a.noData[element] : null,
                isClass: isClassification(a),
                unit: isAngle(a) ? '°' : '',
                time: isTime(a) && range ? timeKind(range, globalEncoding) : null,
            });
        }
    }
    return channels;
}

// The value that a person means of a number as a node holds it (relative to the base).
export const valueOfStored = (channel, stored) => (stored + channel.base) * channel.scale + channel.shift;

// Channels of all attributes, colours among them, that give numbers as they are and not relative to a base.
export function exactChannels({ channels, layout }) {
    const { rgb } = layout;
    const colours = rgb ? ['red', 'green', 'blue'].map((key, element) => ({ key, attribute: rgb.index, element, type: rgb.type, scale: 1, shift: 0, noData: null, unit: '', time: null })) : [];
    return [...channels, ...colours].map((channel) => ({ ...channel, base: 0, exact: true }));
}
