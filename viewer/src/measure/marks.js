// What was measured and noted, and the clip boxes: a list that can be undone, and saved as GeoJSON. Pure but for events.
//
//   mark  { id, kind, points: [[x, y, z], …] in coordinates of the data set, text, width (of a profile) }
//   plane { id, kind: 'plane', points: its boundary, text, number, normal, offset, rms, inliers }: found by `mote planes`
//   box   { id, kind: 'clip', center: in coordinates of the data set, size: drawn, yaw: radians, inside: show it or hide it }
import { numberOf, table, textOf } from '../data/table.js';

export const KINDS = table({
    point: { min: 1, max: 1 },
    distance: { min: 2, max: Infinity },
    height: { min: 2, max: 2 },
    angle: { min: 3, max: 3 },
    area: { min: 3, max: Infinity },
    volume: { min: 3, max: Infinity },
    profile: { min: 2, max: Infinity },
    note: { min: 1, max: 1 },
    plane: { min: 3, max: Infinity },
});
const MAX_MARKS = 1000;
const MAX_POINTS = 1000;
const MAX_TEXT = 2000;
const MAX_UNDO = 200;
const MAX_COORDINATE = 1e15; // beyond it neighbours are farther apart than a tenth of a unit; products of such stay finite

const isPlace = (v) => Number.isFinite(v) && Math.abs(v) <= MAX_COORDINATE;
const isPoint = (p) => Array.isArray(p) && p.length >= 3 && p.slice(0, 3).every(isPlace);
const kindOf = (word) => (typeof word === 'string' ? KINDS[word] : undefined);

export class Marks extends EventTarget {
    constructor() {
        super();
        this.list = [];
        this.past = []; // texts of earlier lists
        this.future = [];
        this.nextId = 1;
    }

    get boxes() {
        return this.list.filter(({ kind }) => kind === 'clip');
    }

    changed() {
        this.dispatchEvent(new CustomEvent('change'));
    }

    // Remembers the present list, to come back to it; call it before a change.
    remember() {
        this.past.push(JSON.stringify(this.list));
        if (this.past.length > MAX_UNDO) this.past.shift();
        this.future = [];
    }

    // A mark with an id of its own, or null where it is none.
    add(mark) {
        const clean = cleaned(mark);
        if (!clean || this.list.length >= MAX_MARKS) return null;
        clean.id = this.nextId++;
        this.remember();
        this.list.push(clean);
        this.changed();
        return clean;
    }

    remove(id) {
        this.remember();
        this.list = this.list.filter((mark) => mark.id !== id);
        this.changed();
    }

    // change(mark) alters it; remember: false while a handle is dragged.
    alter(id, change, remember = true) {
        const mark = this.list.find((m) => m.id === id);
        if (!mark) return;
        if (remember) this.remember();
        change(mark);
        this.changed();
    }

    replace(list) {
        this.remember();
        this.list = list.map(cleaned).filter(Boolean).slice(0, MAX_MARKS).map((mark) => ({ ...mark, id: this.nextId++ }));
        this.changed();
    }

    undo() {
        this.step(this.past, this.future);
    }

    redo() {
        this.step(this.future, this.past);
    }

    step(from, to) {
        if (from.length === 0) return;
        to.push(JSON.stringify(this.list));
        this.list = JSON.parse(from.pop());
        this.changed();
    }
}

// A mark with only what belongs to one, checked; null where it cannot be. What is read may have been written by anyone.
function cleaned(mark) {
    if (mark === null || typeof mark !== 'object') return null;
    const text = textOf(mark.text).slice(0, MAX_TEXT);
    if (mark.kind === 'clip') {
        const { center, size, yaw, inside } = mark;
        if (!isPoint(center) || !isPoint(size) || !size.slice(0, 3).every((s) => s > 0)) return null;
        return { kind: 'clip', center: center.slice(0, 3), size: size.slice(0, 3), yaw: isPlace(yaw) ? yaw : 0, inside: inside !== false, text };
    }
    const kind = kindOf(mark.kind);
    const points = mark.points;
    if (!kind || !Array.isArray(points) || points.length < kind.min || points.length > Math.min(kind.max, MAX_POINTS) || !points.every(isPoint)) return null;
    const out = { kind: mark.kind, points: points.map((p) => p.slice(0, 3)), text };
    if (mark.kind === 'plane') {
        if (!isPoint(mark.normal) || !isPlace(mark.offset)) return null;
        const { normal, offset, number, rms, inliers } = mark;
        Object.assign(out, { normal: normal.slice(0, 3), offset, number: numberOf(number) || 0, rms: numberOf(rms) || 0, inliers: numberOf(inliers) || 0 });
    }
    if (mark.kind === 'profile') out.width = isPlace(mark.width) && mark.width > 0 ? mark.width : 1;
    return out;
}

const GEOMETRY = table({ point: 'Point', note: 'Point', area: 'Polygon', volume: 'Polygon', plane: 'Polygon' });

// figures(mark): what was measured, { name: number or text }. crs: name of the reference system, or ''.
export function toGeoJson(marks, figures, crs) {
    const features = marks.map((mark) => {
        const { kind, points, id: _, ...rest } = mark;
        const type = kind === 'clip' ? 'Point' : GEOMETRY[kind] ?? 'LineString';
        const coordinates = kind === 'clip' ? mark.center : type === 'Point' ? points[0] : type === 'Polygon' ? [[...points, points[0]]] : points;
        return { type: 'Feature', geometry: { type, coordinates }, properties: { kind, ...rest, center: undefined, ...figures(mark) } };
    });
    return { type: 'FeatureCollection', ...(crs ? { crs: { type: 'name', properties: { name: crs } } } : {}), features };
}

const USUAL = table({ Point: 'note', Polygon: 'area', LineString: 'distance' });
const listOf = (value) => (Array.isArray(value) ? value : []);

// The planes of `mote planes --json`.
const planesOf = (planes) => planes.slice(0, MAX_MARKS).map((plane, number) => cleaned({ ...plane, kind: 'plane', points: plane?.boundary, number, text: '' })).filter(Boolean);

// The marks of a GeoJSON text, or the planes of `mote planes --json`. Lines and polygons of others become distances and areas. Throws where it is none.
export function fromGeoJson(text) {
    const json = JSON.parse(text);
    if (Array.isArray(json?.planes)) return planesOf(json.planes);
    const features = json?.type === 'FeatureCollection' ? json.features : json?.type === 'Feature' ? [json] : null;
    if (!Array.isArray(features)) throw new Error('it holds no features');
    const marks = [];
    for (const feature of features.slice(0, MAX_MARKS)) {
        const { type, coordinates } = feature?.geometry ?? {};
        const properties = feature?.properties ?? {};
        if (!Array.isArray(coordinates)) continue;
        const raised = (p) => (Array.isArray(p) && p.length === 2 ? [...p, 0] : p);
        const points = (type === 'Point' ? [coordinates] : type === 'Polygon' ? listOf(coordinates[0]).slice(0, -1) : type === 'LineString' ? coordinates : []).map(raised);
        const kind = properties.kind === 'clip' || kindOf(properties.kind) ? properties.kind : USUAL[textOf(type)];
        const mark = cleaned({ text: properties.text ?? properties.name, width: properties.width, normal: properties.normal, offset: properties.offset, number: properties.number, rms: properties.rms, inliers: properties.inliers, size: properties.size, yaw: properties.yaw, inside: properties.inside, kind, points, center: points[0] });
        if (mark) marks.push(mark);
    }
    if (marks.length === 0 && features.length > 0) throw new Error('none of its features is a point, a line or a polygon with heights');
    return marks;
}

// 'distance;1,2,3;4,5,6;~text', and back (null where it is none). write(point): its numbers as texts.
export function markText(mark, write) {
    const text = mark.text ? [`~${mark.text}`] : [];
    if (mark.kind === 'clip')
        return ['clip', mark.center.join(), mark.size.join(), String(mark.yaw), mark.inside ? 'in' : 'out', ...text].join(';');
    return [mark.kind, ...(mark.kind === 'profile' ? [`w${mark.width}`] : []), ...mark.points.map((p) => write(p).join()), ...text].join(';');
}

export function readMark(written) {
    const [body, ...rest] = String(written).split(';~');
    const [kind, ...parts] = body.split(';');
    const numbers = (part) => String(part).split(',').map(Number);
    const text = rest.join(';~');
    if (kind === 'clip') return cleaned({ kind, center: numbers(parts[0]), size: numbers(parts[1]), yaw: Number(parts[2]), inside: parts[3] !== 'out', text });
    const width = kind === 'profile' ? Number(/^w(.+)$/.exec(parts[0] ?? '')?.[1]) : undefined;
    return cleaned({ kind, points: parts.filter((part) => !/^w/.test(part)).map(numbers), width, text });
}
