// What the text of a coordinate reference system says: its name, its code, whether it is in degrees. Its units are decided by
// the library: units_module.js. Texts come as WKT 1, WKT 2, PROJ strings, PROJJSON or codes. No DOM.
import { numberOf, table, textOf } from './table.js';

const MAX_DEPTH = 64; // of nested brackets; real ones stay below 10

// 'PROJCS["a", GEOGCS[...], 1]' as { keyword, values: [text, number or node] }, or null where it is no WKT.
export function parseWkt(text) {
    const token = /\s*(?:"((?:[^"]|"")*)"|([[\](),])|([^\s"[\](),]+))/y;
    const next = () => {
        const m = token.exec(text);
        if (!m) return null;
        if (m[1] !== undefined) return { text: m[1].replaceAll('""', '"') };
        return m[2] ? { mark: m[2] } : { word: m[3] };
    };
    const node = (keyword, depth) => {
        const values = [];
        for (let t = next(); t && depth < MAX_DEPTH; t = next()) {
            if (t.mark === ']' || t.mark === ')') return { keyword: keyword.toUpperCase(), values };
            if (t.mark === '[' || t.mark === '(') {
                const inner = node(String(values.pop()), depth + 1);
                if (!inner) return null;
                values.push(inner);
            } else if (t.mark !== ',') {
                values.push(t.text ?? (Number.isFinite(Number(t.word)) ? Number(t.word) : t.word));
            }
        }
        return null;
    };
    const first = next();
    const open = first?.word ? next() : null;
    return open?.mark === '[' || open?.mark === '(' ? node(first.word, 0) : null;
}

const childrenOf = (node) => node.values.filter((v) => typeof v === 'object');
const childOf = (node, keyword) => childrenOf(node).find((child) => keyword.test(child.keyword));

const GEOGRAPHIC = /^(GEOGCS|GEOGCRS|GEOGRAPHICCRS|GEODCRS|GEODETICCRS)$/;
const PROJECTED = /^(PROJCS|PROJCRS|PROJECTEDCRS|DERIVEDPROJCRS)$/;
const COMPOUND = /^(COMPD_CS|COMPOUNDCRS)$/;
function codeOf(node) {
    const id = childOf(node, /^(AUTHORITY|ID)$/);
    return id && /^EPSG$/i.test(id.values[0]) ? Number(id.values[1]) || null : null;
}

function fromWkt(root) {
    const bound = /^BOUNDCRS$/.test(root.keyword) && childOf(root, /^SOURCECRS$/);
    if (bound && childrenOf(bound)[0]) return fromWkt(childrenOf(bound)[0]);
    const base = COMPOUND.test(root.keyword) ? (childrenOf(root)[0] ?? root) : root;
    const isCartesian = /^cartesian$/i.test(childOf(base, /^CS$/)?.values[0] ?? ''); // from the middle of the earth
    const kind = PROJECTED.test(base.keyword) ? 'projected' : GEOGRAPHIC.test(base.keyword) && !isCartesian ? 'geographic' : null;
    return { name: String(root.values[0] ?? ''), code: codeOf(root), kind };
}

function fromProj(text) {
    const values = Object.fromEntries([...text.matchAll(/\+([a-z_0-9]+)(?:=(\S+))?/gi)].map((m) => [m[1].toLowerCase(), m[2] ?? '']));
    const init = /^epsg:(\d+)$/i.exec(values.init ?? '');
    if (init) return fromCode(Number(init[1]));
    const datum = values.datum || values.ellps || '';
    const around = datum ? ` (${datum})` : '';
    if (/^(long?lat|latl?ong?)$/.test(values.proj)) return { name: `longitude, latitude${around}`, code: null, kind: 'geographic' };
    if (!values.proj || /^(geocent|cart)$/.test(values.proj)) return { name: text, code: null, kind: null };
    const half = 'south' in values ? 'S' : 'N';
    const name = values.proj === 'utm' ? `UTM zone ${values.zone}${half}${around}` : `${values.proj}${around}`;
    return { name, code: null, kind: 'projected' };
}

// The codes that scans come with most often; of the others the number is shown.
const NAMES = table({
    4326: 'WGS 84', 4979: 'WGS 84', 4269: 'NAD83', 4258: 'ETRS89', 4267: 'NAD27', 6318: 'NAD83(2011)', 7844: 'GDA2020', 4283: 'GDA94',
    4171: 'RGF93 v1', 4167: 'NZGD2000', 6668: 'JGD2011',
    3857: 'WGS 84 / Pseudo-Mercator', 2154: 'RGF93 v1 / Lambert-93', 2056: 'CH1903+ / LV95', 21781: 'CH1903 / LV03',
    27700: 'OSGB36 / British National Grid', 28992: 'Amersfoort / RD New', 31370: 'BD72 / Belgian Lambert 72',
    3006: 'SWEREF99 TM', 3067: 'ETRS89 / TM35FIN(E,N)', 2193: 'NZGD2000 / New Zealand Transverse Mercator 2000',
    3035: 'ETRS89-extended / LAEA Europe', 2180: 'ETRF2000-PL / CS92', 5514: 'S-JTSK / Krovak East North',
    31467: 'DHDN / 3-degree Gauss-Kruger zone 3', 31468: 'DHDN / 3-degree Gauss-Kruger zone 4',
});
const ZONES = [
    [32601, 60, (n) => `WGS 84 / UTM zone ${n}N`], [32701, 60, (n) => `WGS 84 / UTM zone ${n}S`],
    [25828, 11, (n) => `ETRS89 / UTM zone ${n + 27}N`], [26901, 23, (n) => `NAD83 / UTM zone ${n}N`],
    [6330, 19, (n) => `NAD83(2011) / UTM zone ${n}N`], [28348, 11, (n) => `GDA94 / MGA zone ${n + 47}`],
    [7846, 14, (n) => `GDA2020 / MGA zone ${n + 45}`],
];
// In degrees, and within some metres where WGS 84 is, or what proj4js has a row for.
const GEOGRAPHIC_CODES = new Set([4326, 4979, 4269, 4258, 4267, 6318, 6319, 6668, 6697, 7843, 7844, 4283, 4171, 4167,
    4490, 4612, 4617, 4674, 4759, 4148, 4180, 4190, 4152, 4619, 4661, 4669, 4670, 4686, 4737]);

function nameOfCode(code) {
    const zone = ZONES.find(([first, count]) => code >= first && code < first + count);
    return NAMES[code] ?? (zone ? zone[2](code - zone[0] + 1) : '');
}

function fromCode(code) {
    const isGeographic = GEOGRAPHIC_CODES.has(code); // the units of others say it
    const isKnown = NAMES[code] || nameOfCode(code);
    return { name: nameOfCode(code), code, kind: isGeographic ? 'geographic' : isKnown ? 'projected' : null };
}

function fromJson(text) {
    let json;
    try {
        json = JSON.parse(text);
    } catch {
        return null;
    }
    if (typeof json?.name !== 'string') return null;
    const base = json.components?.[0] ?? json;
    const kind = /^Geo(graphic|detic)CRS$/.test(base.type) && base.coordinate_system?.subtype !== 'Cartesian' ? 'geographic'
        : base.type === 'ProjectedCRS' ? 'projected' : null;
    return { name: json.name, code: json.id?.authority === 'EPSG' ? Number(json.id.code) || null : null, kind };
}

// Returns null where nothing is given, else { name, code: EPSG or null, kind: 'geographic', 'projected' or null }.
export function parseCrs(text) {
    const trimmed = textOf(text).replace(/\0+$/, '').trim();
    if (!trimmed) return null;
    const code = /^(?:urn:ogc:def:crs:)?EPSG:+(\d+)(?:\+(\d+))?$/i.exec(trimmed);
    if (code) return fromCode(Number(code[1]));
    if (trimmed.startsWith('+')) return fromProj(trimmed);
    const root = trimmed.startsWith('{') ? null : parseWkt(trimmed);
    const parsed = root ? fromWkt(root) : fromJson(trimmed);
    return parsed?.name ? parsed : { name: trimmed, code: null, kind: null };
}

// crs: what parseCrs() gave, or null. units: "mote.units" of metadata.json, of which mote decided with all that the source said
// (its GeoTIFF keys, units of columns), or withDecidedUnits(). Adds metres: of its unit of length, or null where that is not
// known; radians: the same of its angles; verticalMetres: of its heights.
export function withUnits(crs, units) {
    const isGiven = units !== null && typeof units === 'object' && !Array.isArray(units);
    if (!isGiven && !crs) return crs;
    const size = (unit, key) => (numberOf(unit?.[key]) > 0 && Number.isFinite(unit[key]) ? unit[key] : null);
    const { horizontal, vertical } = isGiven ? units : {};
    const radians = size(horizontal, 'radians');
    const from = crs ?? { name: '', code: null, kind: radians !== null ? 'geographic' : 'projected' };
    return { ...from, kind: from.kind ?? (radians !== null ? 'geographic' : null), metres: size(horizontal, 'metres'), radians, verticalMetres: size(vertical, 'metres') };
}

// 'ETRS89 / UTM zone 32N (EPSG:25832)'.
export function crsName(text) {
    const crs = parseCrs(text);
    if (!crs) return '';
    if (!crs.name) return `EPSG:${crs.code}`;
    const name = crs.name.length > 80 ? `${crs.name.slice(0, 77)}…` : crs.name;
    return crs.code ? `${name} (EPSG:${crs.code})` : name;
}
