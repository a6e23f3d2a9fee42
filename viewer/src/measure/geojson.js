// Marks as GeoJSON, and what other programs write as marks. Pure.
//
//   writing  coordinates of the data set, its system named so that others know it; or RFC 7946: longitude, latitude, metres
//   reading  all geometries of RFC 7946, with or without heights; `mote planes --json`; measurements of Potree
//
// Nothing is left out without a word: what cannot be a mark is counted by the reason why.
import { cleaned, KINDS, MAX_MARKS, MAX_POINTS, ringsOf } from './marks.js';
import { table, textOf } from '../data/table.js';
import { t } from '../texts/texts.js';

const GEOMETRY = table({ point: 'Point', note: 'Point', area: 'Polygon', volume: 'Polygon', plane: 'Polygon' });
const USUAL = table({ Point: 'note', Polygon: 'area', LineString: 'distance' });
const OWN = ['text', 'width', 'base', 'normal', 'offset', 'number', 'rms', 'inliers', 'size', 'yaw', 'inside'];
const MAX_DEPTH = 20; // of collections in collections
const WGS84 = /^(urn:ogc:def:crs:OGC:[\d.]*:CRS84h?|urn:ogc:def:crs:EPSG:[\d.]*:(4326|4979)|EPSG:(4326|4979))$/i;

const listOf = (value) => (Array.isArray(value) ? value : []);

// ---- writing

// What the file says of the system: EPSG's code as OGC writes it, or the text itself, which GDAL takes as well. Without either
// programs are told that none is known: else they take numbers for degrees.
function systemOf(crs, text) {
    if (crs?.code) return { type: 'name', properties: { name: `urn:ogc:def:crs:EPSG::${crs.code}` } };
    return text ? { type: 'name', properties: { name: text } } : null;
}

// RFC 7946 wants outer rings counter-clockwise and holes clockwise. Other files keep the order of corners, in which `mote measure`
// then fits the base of a volume to them: the last digit depends on it.
function wound(ring, isOuter) {
    const twice = ring.reduce((sum, [x, y], i) => {
        const [u, v] = ring[(i + 1) % ring.length];
        return sum + (x - ring[0][0]) * (v - ring[0][1]) - (u - ring[0][0]) * (y - ring[0][1]);
    }, 0);
    return twice < 0 === isOuter ? [ring[0], ...ring.slice(1).reverse()] : ring;
}
const closed = (ring) => [...ring, ring[0]];

function geometryOf(mark, toWgs84) {
    const place = toWgs84 ?? ((p) => p);
    const turned = toWgs84 ? wound : (ring) => ring;
    const type = mark.kind === 'clip' ? 'Point' : GEOMETRY[mark.kind] ?? 'LineString';
    // Positions that came without a height go without one.
    const placed = (p) => (p[2] === null ? place([p[0], p[1], 0]).slice(0, 2) : place(p));
    const [points, ...holes] = (mark.kind === 'clip' ? [[mark.center]] : ringsOf(mark)).map((ring) => ring.map(placed));
    if (type === 'Point') return { type, coordinates: points[0] };
    if (type === 'LineString') return { type, coordinates: points };
    return { type, coordinates: [closed(turned(points, true)), ...holes.map((ring) => closed(turned(ring, false)))] };
}

// options: figures(mark): what was measured, { name: number or text }; unit: of its lengths, '' where not known; crs: what parseCrs() gave, or null; projection: its
// text; toWgs84(point): [longitude, latitude, metres], for RFC 7946, or null; views: saved views, which go along.
export function toGeoJson(marks, { figures, unit = '', crs = null, projection = '', toWgs84 = null, views = [] }) {
    const features = marks.map((mark) => {
        const { kind, points: _, holes: _holes, center: _center, flat: _flat, id: _id, more, ...rest } = mark;
        const measured = figures(mark);
        const properties = { ...Object.fromEntries(more ?? []), kind, ...rest, ...measured, ...(unit && Object.keys(measured).length > 0 ? { unit } : {}) };
        return { type: 'Feature', geometry: geometryOf(mark, toWgs84), properties };
    });
    return { type: 'FeatureCollection', ...(toWgs84 ? {} : { crs: systemOf(crs, projection) }), features, ...(views.length > 0 ? { mote: { views } } : {}) };
}

// ---- reading

class Reasons {
    constructor() {
        this.counts = new Map();
    }

    add(reason, n = 1) {
        if (n > 0) this.counts.set(reason, (this.counts.get(reason) ?? 0) + n);
    }

    // '3 without a geometry, 1 with coordinates that are no numbers', or ''.
    toString() {
        return [...this.counts].map(([reason, n]) => `${n} ${reason}`).join(', ');
    }
}

const isPosition = (p) => Array.isArray(p) && p.length >= 2 && p.slice(0, 3).every((c, i) => typeof c === 'number' || (i === 2 && c === null));
// The height of a position that has none is null, until one is found.
const raised = (p) => [p[0], p[1], typeof p[2] === 'number' ? p[2] : null];
const opened = (ring) => (ring.length > 1 && [0, 1, 2].every((i) => ring[0][i] === ring.at(-1)[i]) ? ring.slice(0, -1) : ring);

// The simple parts of a geometry: { type, points, holes }.
function partsOf(geometry, reasons, depth = 0) {
    if (geometry === null || typeof geometry !== 'object') return reasons.add(t('geojson.geometry')) ?? [];
    const type = textOf(geometry.type);
    if (type === 'GeometryCollection' && depth < MAX_DEPTH) return listOf(geometry.geometries).flatMap((part) => partsOf(part, reasons, depth + 1));
    const many = /^Multi(Point|LineString|Polygon)$/.exec(type)?.[1];
    if (!many && !USUAL[type]) return reasons.add(t('geojson.type', { type: type.slice(0, 40) || '–' })) ?? [];
    const { coordinates } = geometry;
    if (!Array.isArray(coordinates) || coordinates.length === 0) return reasons.add(t('geojson.coordinates')) ?? [];
    return (many ? coordinates : [coordinates]).flatMap((one) => {
        const rings = { Point: [[one]], LineString: [one], Polygon: one }[many ?? type];
        if (!Array.isArray(rings) || rings.length === 0 || !rings.every((ring) => Array.isArray(ring) && ring.every(isPosition))) return reasons.add(t('geojson.numbers')) ?? [];
        const [points, ...holes] = rings.map((ring) => ((many ?? type) === 'Polygon' ? opened(ring.map(raised)) : ring.map(raised)));
        return [{ type: many ?? type, points, holes }];
    });
}

// What a feature gives for each of its parts.
function itemsOf(feature, reasons) {
    const properties = feature?.properties !== null && typeof feature?.properties === 'object' ? feature.properties : {};
    const said = typeof properties.kind === 'string' && (properties.kind === 'clip' || KINDS[properties.kind]) ? properties.kind : null;
    const text = textOf(properties.text) || textOf(properties.name) || textOf(properties.title) || textOf(properties.label) || textOf(properties.distance);
    const own = Object.fromEntries(OWN.map((key) => [key, properties[key]]));
    return partsOf(feature?.geometry ?? null, reasons).map(({ type, points, holes }) => ({ ...own, kind: said ?? USUAL[type], text, points, holes, more: said ? null : properties }));
}

// The measurements of a project that Potree saved, which is JSON5: keys without quotes, commas at the end.
function potreeItems(json) {
    const kindOf = ({ points, showAngles, showHeight, closed: isClosed }) =>
        (points.length === 1 ? 'point' : showHeight && points.length === 2 ? 'height' : showAngles && points.length === 3 ? 'angle' : isClosed ? 'area' : 'distance');
    const measured = listOf(json.measurements).filter((m) => Array.isArray(m?.points)).map((m) => ({ kind: kindOf(m), text: textOf(m.name), points: m.points }));
    const profiles = listOf(json.profiles).filter((p) => Array.isArray(p?.points)).map((p) => ({ kind: 'profile', text: textOf(p.name), points: p.points, width: p.width }));
    const notes = listOf(json.annotations).filter((a) => Array.isArray(a?.position)).map((a) => ({ kind: 'note', text: textOf(a.title), points: [a.position] }));
    return [...measured, ...profiles, ...notes];
}

// A text of its own for each feature: behind a record separator (RFC 8142), or on a line, as GDAL and QGIS write them too; null where
// it is no such sequence.
function parseSequence(text) {
    const parts = text.split(text.startsWith('\x1e') ? '\x1e' : '\n').filter((part) => part.trim() !== '');
    try {
        const features = parts.map((part) => JSON.parse(part));
        return features.length > 0 && features.every((feature) => feature?.type === 'Feature') ? { type: 'FeatureCollection', features } : null;
    } catch {
        return null;
    }
}

function parseLoose(text) {
    try {
        return JSON.parse(text);
    } catch (error) {
        const sequence = parseSequence(text);
        if (sequence) return sequence;
        if (!/"?type"?\s*:\s*["']Potree["']/.test(text.slice(0, 2000))) throw error;
        return JSON.parse(text.replace(/("(?:[^"\\]|\\.)*")|([{,]\s*)([A-Za-z_$][\w$]*)(?=\s*:)|,(?=\s*[}\]])/g, (all, quoted, before, key) => quoted ?? (key ? `${before}"${key}"` : '')));
    }
}

const viewsOf = (json) => listOf(json?.mote?.views).filter((v) => typeof v?.name === 'string' && typeof v.view === 'string');

// What a text holds, before it has heights and its place: { items, views, system: of its coordinates, 'WGS84', another name,
// or '' where it does not say, reasons }. Throws where it is none of what is read.
export function readGeoJson(text) {
    const json = parseLoose(text);
    const reasons = new Reasons();
    if (Array.isArray(json?.planes)) return { items: json.planes.map((plane, number) => ({ ...plane, kind: 'plane', points: plane?.boundary, number, text: '' })), views: [], system: '', reasons };
    if (json?.type === 'Potree') return { items: potreeItems(json), views: [], system: '', reasons };
    const type = textOf(json?.type);
    const isGeometry = USUAL[type] || /^(Multi|GeometryC)/.test(type);
    const features = type === 'FeatureCollection' ? json.features : type === 'Feature' ? [json] : isGeometry ? [{ geometry: json }] : null;
    if (!Array.isArray(features)) throw new Error(t('geojson.features'));
    const name = textOf(json.crs?.properties?.name);
    const items = features.flatMap((feature) => itemsOf(feature, reasons));
    return { items, views: viewsOf(json), system: WGS84.test(name) ? 'WGS84' : name, reasons };
}

// Marks of what was read. place(point): from the coordinates of the file to those of the data set; heightAt(x, y): the height of the
// cloud there, at which the picture shows corners without one. reasons: to which those are added that cannot be marks.
export function toMarks({ items, reasons }, { place = (p) => p, heightAt = () => 0 } = {}) {
    const settled = (p) => {
        if (!Array.isArray(p)) return p;
        const at = place([p[0], p[1], p[2] ?? 0]);
        return p[2] === null ? [at[0], at[1], heightAt(at[0], at[1])] : at;
    };
    const ring = (points) => (Array.isArray(points) ? points.map(settled) : points);
    const marks = [];
    for (const item of items) {
        if (marks.length >= MAX_MARKS) {
            reasons.add(t('geojson.beyond', { n: MAX_MARKS }));
            continue;
        }
        const points = ring(item.points);
        const flat = [item.points, ...listOf(item.holes)].flatMap(listOf).flatMap((p, i) => (p?.[2] === null ? [i] : []));
        const mark = cleaned({ ...item, points, flat, holes: listOf(item.holes).map(ring), center: points?.[0] });
        if (mark) marks.push(mark);
        else reasons.add(whyNot(item, points));
        if (mark && item.holes?.length > 0 && !mark.holes) reasons.add(t('geojson.holes', { kind: mark.kind }));
    }
    return marks;
}

function whyNot({ kind }, points) {
    if (!Array.isArray(points)) return t('geojson.corners');
    const { min = 1, max = 1 } = KINDS[kind] ?? {};
    if (points.length < min) return t('geojson.few', { kind });
    if (points.length > Math.min(max, MAX_POINTS)) return t('geojson.many', { kind });
    return t('geojson.sizes');
}

// The marks of a text in the coordinates of the data set, heights of flat ones 0. Throws where none is one.
export function fromGeoJson(text) {
    const read = readGeoJson(text);
    const marks = toMarks(read);
    if (marks.length === 0 && String(read.reasons)) throw new Error(t('geojson.none', { reasons: read.reasons }));
    return marks;
}

export const hasFlat = ({ items }) => items.some(({ points }) => Array.isArray(points) && points.some((p) => Array.isArray(p) && p[2] === null));
export const cornersOf = ({ items }) => items.flatMap(({ points, holes }) => [...listOf(points), ...listOf(holes).flat()]).filter(isPosition);
