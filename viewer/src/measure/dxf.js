// Marks, and the points of a profile, as DXF of AutoCAD R12, which all programs read: points, polylines in space and texts, on
// a layer for each kind. Coordinates are those of the data set. Pure.
// Source: Autodesk, DXF R12 reference.

const COLOURS = { point: 2, note: 2, distance: 2, height: 2, angle: 6, circle: 6, over: 2, area: 2, volume: 30, profile: 3, plane: 4, clip: 5 };
const CLOSED = new Set(['area', 'volume', 'plane', 'circle']);
const TEXT_SHARE = 1 / 100; // of the extent: how high texts are
const SPACE = 8; // of a polyline and its corners: in space, not in the plane
const VERTEX = 32; // of a corner in space

// R12 has one byte for a character, of code page 1252 (the header says so); others are written by their number, which newer
// programs know. What would end the line is a space, as is every other kind of space.
const HIGH = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'; // 0x80 to 0x9f
const isByte = (c) => c <= '~' || (c >= '\xa0' && c <= '\xff') || HIGH.includes(c);
const plainText = (text) => [...String(text).replace(/[\s\x00-\x1f]/g, ' ')].map((c) => (isByte(c) ? c : `\\U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`)).join('').slice(0, 250);
const bytesOf = (text) => Uint8Array.from(text, (c) => (HIGH.includes(c) ? 0x80 + HIGH.indexOf(c) : c.charCodeAt(0)));
const number = (v) => (Number.isInteger(v) ? `${v}.0` : String(v).includes('e') ? v.toFixed(12) : String(v));
const place = ([x, y, z = 0], first = 10) => [[first, number(x)], [first + 10, number(y)], [first + 20, number(z)]];

const pointOf = (layer, p, colour) => [[0, 'POINT'], [8, layer], ...(colour ? [[62, colour]] : []), ...place(p)];
const textOf = (layer, p, height, text) => [[0, 'TEXT'], [8, layer], ...place(p), [40, number(height)], [1, plainText(text)]];
const lineOf = (layer, points, isClosed) => [
    [0, 'POLYLINE'], [8, layer], [66, 1], ...place([0, 0, 0]), [70, SPACE | (isClosed ? 1 : 0)],
    ...points.flatMap((p) => [[0, 'VERTEX'], [8, layer], ...place(p), [70, VERTEX]]), [0, 'SEQEND'], [8, layer],
];

function extentOf(points) {
    const [min, max] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    for (const p of points) for (let i = 0; i < 3; i++) [min[i], max[i]] = [Math.min(min[i], p[i] ?? 0), Math.max(max[i], p[i] ?? 0)];
    return points.length > 0 ? { min, max } : { min: [0, 0, 0], max: [0, 0, 0] };
}

// The bytes of a file. layers: [[name, colour by AutoCAD's number]].
function document(entities, layers, { min, max }) {
    const pairs = [
        [0, 'SECTION'], [2, 'HEADER'], [9, '$ACADVER'], [1, 'AC1009'], [9, '$DWGCODEPAGE'], [3, 'ANSI_1252'], [9, '$EXTMIN'], ...place(min), [9, '$EXTMAX'], ...place(max), [0, 'ENDSEC'],
        [0, 'SECTION'], [2, 'TABLES'], [0, 'TABLE'], [2, 'LTYPE'], [70, 1], [0, 'LTYPE'], [2, 'CONTINUOUS'], [70, 0], [3, 'Solid line'], [72, 65], [73, 0], [40, '0.0'], [0, 'ENDTAB'],
        [0, 'TABLE'], [2, 'LAYER'], [70, layers.length], ...layers.flatMap(([name, colour]) => [[0, 'LAYER'], [2, name], [70, 0], [62, colour], [6, 'CONTINUOUS']]), [0, 'ENDTAB'], [0, 'ENDSEC'],
        [0, 'SECTION'], [2, 'ENTITIES'], ...entities, [0, 'ENDSEC'], [0, 'EOF'],
    ];
    return bytesOf(pairs.map(([code, v]) => `${String(code).padStart(3)}\r\n${v}\r\n`).join(''));
}

const layerOf = (kind) => kind.toUpperCase();

// textOfMark(mark): what is written beside it, or ''. cornersOf(box): the eight corners of a clip box, a bit for each axis.
export function marksToDxf(marks, textOfMark, cornersOf) {
    const all = marks.flatMap((mark) => (mark.kind === 'clip' ? cornersOf(mark) : mark.points));
    const extent = extentOf(all);
    const height = Math.hypot(extent.max[0] - extent.min[0], extent.max[1] - extent.min[1]) * TEXT_SHARE || 1;
    const entities = marks.flatMap((mark) => {
        const layer = layerOf(mark.kind);
        if (mark.kind === 'clip') {
            const c = cornersOf(mark);
            return [0, 1, 2, 3, 4, 5, 6, 7].flatMap((i) => [1, 2, 4].filter((bit) => !(i & bit)).flatMap((bit) => lineOf(layer, [c[i], c[i | bit]], false)));
        }
        const shape = mark.points.length === 1 ? pointOf(layer, mark.points[0]) : lineOf(layer, mark.points, CLOSED.has(mark.kind));
        const holes = (mark.holes ?? []).flatMap((ring) => lineOf(layer, ring, true));
        const text = textOfMark(mark);
        return [...shape, ...holes, ...(text ? textOf(layer, mark.points[0], height, text) : [])];
    });
    const kinds = [...new Set(marks.map(({ kind }) => kind))];
    return document(entities, kinds.map((kind) => [layerOf(kind), COLOURS[kind] ?? 7]), extent);
}

// A profile as a drawing: distance along the line to the right, height upwards. points: [{ along, height, code: class or null }].
export function profileToDxf(points, length) {
    const layer = (code) => (code === null || code === undefined ? 'POINTS' : `CLASS_${code}`);
    const codes = [...new Set(points.map(({ code }) => code ?? null))].sort((a, b) => a - b);
    const extent = extentOf(points.map(({ along, height }) => [along, height, 0]));
    const base = [[0, extent.min[1], 0], [length, extent.min[1], 0]];
    const entities = [...lineOf('BASE', base, false), ...points.flatMap(({ along, height, code }) => pointOf(layer(code), [along, height, 0]))];
    return document(entities, [['BASE', 7], ...codes.map((code, i) => [layer(code), code === null ? 7 : (i % 6) + 1])], extent);
}
