// Places on the earth: from the coordinates of a data set to longitude, latitude (WGS 84) and metres of height, and back.
// The mathematics are those of proj4js (../projections.js).
import { parseCrs } from './crs.js';
import { t } from '../texts/texts.js';

const EARTH = { a: 6378137, f: 1 / 298.2572 }; // of WGS 84 and GRS 80, which are one for a map
const SHIFTED = [1, 2]; // kinds of datum of proj4js that say how they lie to WGS 84

// The part of a compound system that says what x and y are, as its text.
export function horizontalText(text) {
    const start = text.search(/\b(PROJCS|PROJCRS|PROJECTEDCRS|GEOGCS|GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS)\s*[[(]/i);
    if (start < 0) return text.trim();
    let depth = 0;
    for (const { 0: mark, index } of text.slice(start).matchAll(/"(?:[^"]|"")*"|[[\](){}]/g)) {
        if (/[[(]/.test(mark)) depth++;
        if (/[\])]/.test(mark) && --depth === 0) return text.slice(start, start + index + 1);
    }
    return text.trim();
}

// Systems that are known by their code alone and that proj4js has no row for.
const UTM_ROWS = [[25828, 11, 28, '+ellps=GRS80'], [26901, 23, 1, '+datum=NAD83'], [6330, 19, 1, '+datum=NAD83'], [28348, 11, 48, '+ellps=GRS80 +south'], [7846, 14, 46, '+ellps=GRS80 +south']];
function definition(text) {
    const { code, kind } = parseCrs(text) ?? {};
    const isCode = /^(urn:ogc:def:crs:)?EPSG:/i.test(text.trim());
    if (!isCode) return horizontalText(text);
    const row = UTM_ROWS.find(([first, count]) => code >= first && code < first + count);
    if (row) return `+proj=utm +zone=${code - row[0] + row[2]} ${row[3]} +units=m`;
    return kind === 'geographic' ? 'EPSG:4326' : `EPSG:${code}`;
}

// load(): the module of proj4js. text: of a system. Returns { toWgs84([x, y]), fromWgs84([lon, lat]) }; throws an Error in words.
async function converter(load, text) {
    const { proj4, Proj } = await load();
    const name = parseCrs(text)?.name || text.slice(0, 60);
    let proj;
    try {
        proj = new Proj(definition(text));
    } catch {
        throw new Error(t('places.system', { name }));
    }
    const { datum } = proj;
    const isEarth = Math.abs(proj.a - EARTH.a) < 1 && Math.abs((proj.a - proj.b) / proj.a - EARTH.f) < 1e-8;
    if (!isEarth && !SHIFTED.includes(datum?.datum_type) && !proj.sphere) throw new Error(t('places.datum', { name }));
    const both = proj4(proj, new Proj('EPSG:4326'));
    const checked = (p) => {
        if (!p.every(Number.isFinite)) throw new Error(t('places.outside'));
        return p;
    };
    return { toWgs84: (p) => checked(both.forward([p[0], p[1]])), fromWgs84: (p) => checked(both.inverse([p[0], p[1]])) };
}

const loadProjections = () => import(new URL('projections.js', import.meta.url).href);

// For a data set, meta: as parseMetadata() gives it. Heights: only their unit is changed.
export async function placesOf({ projection, crs, isLonLat }, load = loadProjections) {
    const metres = crs?.verticalMetres ?? crs?.metres ?? 1;
    if (!projection && !isLonLat) throw new Error(t('places.unknown'));
    const { toWgs84, fromWgs84 } = isLonLat && !projection ? { toWgs84: (p) => p.slice(0, 2), fromWgs84: (p) => p.slice(0, 2) } : await converter(load, projection);
    return { toWgs84: (p) => [...toWgs84(p), p[2] * metres], fromWgs84: (p) => [...fromWgs84(p), p[2] / metres] };
}

// From the system of a file to that of the data set. name: 'WGS84', or what the file calls it.
export async function bridge(name, meta, load = loadProjections) {
    const places = await placesOf(meta, load);
    if (name === 'WGS84') return places.fromWgs84;
    const other = await converter(load, name);
    return (p) => [...places.fromWgs84([...other.toWgs84(p), 0]).slice(0, 2), p[2]];
}

// Whether coordinates are degrees while those of the data set are not: RFC 7946 names no system, it has only one.
export function looksLikeDegrees(corners, { box, isLonLat }) {
    if (isLonLat || corners.length === 0) return false;
    const onGlobe = (x, y) => Math.abs(x) <= 180 && Math.abs(y) <= 90;
    const isApart = !onGlobe(box.min[0], box.min[1]) && !onGlobe(box.max[0], box.max[1]);
    return isApart && corners.every(([x, y]) => onGlobe(x, y));
}
