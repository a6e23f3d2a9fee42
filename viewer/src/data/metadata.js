// Reads metadata.json: checks what the viewer depends on and says plainly what is wrong.
import { DataError, told } from './errors.js';
import { parseAttributes, scalarChannels } from './attributes.js';
import { parseCrs, withUnits } from './crs.js';
import { isGeographic, stretchOf } from './geographic.js';
import { numberOf, textOf } from './table.js';

function vector(value, what) {
    if (!Array.isArray(value) || value.length < 3 || !value.slice(0, 3).every(Number.isFinite))
        throw told(DataError, 'meta.vector', { what });
    return value.slice(0, 3);
}

// A finite number above 0, else 0. (In JSON 1e999 is infinite.)
const positive = (value) => (numberOf(value) > 0 && Number.isFinite(numberOf(value)) ? numberOf(value) : 0);

function schemeOf(flags) {
    const list = (Array.isArray(flags) ? flags : [flags]).map((flag) => textOf(flag).toUpperCase());
    return list.includes('REPLACING') ? 'replacing' : 'additive';
}

// The box of the real points: attribute min and max of the position, which the bounding cube only surrounds.
function pointBox(position, cube) {
    const [min, max] = [position.min, position.max];
    const usable = [0, 1, 2].every((i) => Number.isFinite(min[i]) && Number.isFinite(max[i]) && max[i] >= min[i]);
    return usable ? { min: min.slice(0, 3), max: max.slice(0, 3) } : { min: cube.min.slice(), max: cube.max.slice() };
}

// The box of nearly all points, where a few others stretch the cube; null where mote saw none, or something else wrote the data.
function restBox(rest) {
    const usable = [rest?.min, rest?.max].every((v) => Array.isArray(v) && v.length === 3 && v.every(Number.isFinite));
    return usable && rest.max.every((high, i) => high > rest.min[i]) ? { min: rest.min.slice(), max: rest.max.slice() } : null;
}

// How far a 16-bit colour is shifted to 8 bits: 8 or 0 for the whole data set, or null where nothing says.
function rgbShift(rgb) {
    if (!rgb || rgb.typeSize === 1) return 0;
    const known = rgb.max.slice(0, 3).filter(Number.isFinite);
    if (known.length === 0) return null;
    return Math.max(...known) > 255 ? 8 : 0;
}

// How far apart the samples of the root are, as drawn. In degrees the cells of the octree are no cubes on the ground; most of
// their length is empty, so no cell counts for more than the points' box.
function drawnSpacing(spacing, stretch, box) {
    if (stretch.every((s) => s === 1)) return spacing;
    const widest = Math.max(...[0, 1].map((i) => (box.max[i] - box.min[i]) * stretch[i]));
    return Math.min(spacing * Math.max(...stretch), widest || 1);
}

// How many of the other's units one of its own is, along each axis; null: they are the same, or not known. Heights of a projected
// system that says nothing of them count as x and y do.
function sizesIn(frame, own) {
    const [a, b] = [frame, own].map(({ crs, isLonLat }) => ({ flat: (isLonLat ? crs?.radians : crs?.metres) || 0, up: crs?.verticalMetres || (isLonLat ? 1 : crs?.metres) || 0 }));
    const ratio = (key) => (a[key] && b[key] ? b[key] / a[key] : 1);
    const flat = frame.isLonLat === own.isLonLat ? ratio('flat') : 1;
    const sizes = [flat, flat, ratio('up')];
    return frame.crs && sizes.some((size) => size !== 1) ? sizes : null;
}

// lonLat: true or false says whether x and y are degrees; null leaves it to what the data set says of itself. layout: of a
// record, where the data set is no Potree folder.
// frame { origin, stretch, crs, isLonLat }: of another data set, in whose space this one is drawn, and in whose units it counts from
// here on: what is picked, measured and exported of both has one unit. stored: how its numbers stand in the file.
export function parseMetadata(json, lonLat = null, layout = null, frame = null) {
    if (json === null || typeof json !== 'object') throw told(DataError, 'meta.object');
    const cube = {
        min: vector(json.boundingBox?.min, 'boundingBox.min'),
        max: vector(json.boundingBox?.max, 'boundingBox.max'),
    };
    const side = cube.max.map((high, i) => high - cube.min[i]);
    if (!side.every(Number.isFinite)) throw told(DataError, 'meta.large');
    if (side.some((s) => s < 0)) throw told(DataError, 'meta.below');
    const isPotree = layout === null;
    layout ??= parseAttributes(json.attributes);
    const encoding = textOf(json.encoding ?? 'DEFAULT').toUpperCase();
    if (isPotree && encoding !== 'DEFAULT' && encoding !== 'BROTLI')
        throw told(DataError, 'meta.encoding', { encoding });
    const firstChunkSize = numberOf(json.hierarchy?.firstChunkSize);
    if (!Number.isSafeInteger(firstChunkSize) || firstChunkSize < 0)
        throw told(DataError, 'meta.chunk');
    const projection = textOf(json.mote?.crs) || textOf(json.projection); // the former says more, where mote wrote it
    const own = withUnits(parseCrs(projection), json.mote?.units);
    const stored = { scale: vector(json.scale, 'scale'), offset: vector(json.offset, 'offset') };
    const ownBox = pointBox(layout.position, cube);
    const isLonLat = lonLat ?? isGeographic(own, ownBox, stored.scale);
    const sizes = frame ? sizesIn(frame, { crs: own, isLonLat }) : null;
    const counted = sizes ? (p) => p.map((c, i) => c * sizes[i]) : (p) => p;
    const crs = sizes ? { ...own, metres: frame.crs.metres, radians: frame.crs.radians, verticalMetres: frame.crs.verticalMetres } : own;
    const boxOf = ({ min, max }) => ({ min: counted(min), max: counted(max) });
    const box = boxOf(ownBox);
    const stretch = frame?.stretch ?? stretchOf(crs, box, isLonLat);
    const rest = json.mote?.rest && restBox(json.mote.rest) ? boxOf(restBox(json.mote.rest)) : null;
    const [scale, offset, low] = [stored.scale, stored.offset, cube.min].map(counted);
    const origin = frame?.origin ?? rest?.min ?? low; // everything is drawn relative to it: small numbers for 32-bit floats
    const spacing = positive(json.spacing) || Math.max(...side) / 128;
    return {
        name: textOf(json.name) || 'Point cloud',
        description: textOf(json.description),
        points: positive(json.points),
        // Replacing sets store representatives too; those of mote say how many points there were.
        sourcePoints: positive(json.mote?.points) || positive(json.points),
        projection,
        crs,
        isLonLat,
        hasReturns: json.mote?.hasReturns === true, // a laser's second ones
        stretch, // of the axes, for drawing: world = drawn / stretch + origin
        scale,
        offset,
        stored,
        isConverted: sizes !== null,
        spacing: drawnSpacing(spacing, counted(stretch), ownBox),
        origin,
        corner: low.map((m, i) => (m - origin[i]) * stretch[i]), // of the root, as drawn
        side: counted(side).map((s, i) => s * stretch[i]),
        box,
        rest,
        encoding,
        scheme: schemeOf(json.flags ?? []),
        flags: Array.isArray(json.flags) ? json.flags.map(textOf) : [],
        depth: Number.isInteger(json.hierarchy?.depth) ? json.hierarchy.depth : null, // of the deepest level; the root is level 0
        firstChunkSize,
        layout,
        globalEncoding: positive(json.mote?.las?.global_encoding), // of the LAS header, where the writer kept it
        channels: scalarChannels(layout, json.mote?.las?.global_encoding),
        rgbShift: rgbShift(layout.rgb),
        exposure: layout.rgb ? null : 1, // how many times brighter dark colours are drawn: the root says it
    };
}
