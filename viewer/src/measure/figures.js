// What a mark measures, as numbers with names, and as text.
import { frameOf, upAxis } from '../view/up_axis.js';
import * as geometry from './geometry.js';
import { drawnMetres, shown, unitsOf } from './units.js';
import { ringsOf } from './marks.js';
import { namedCoordinates } from '../ui/format.js';
import { table } from '../data/table.js';
import { t } from '../texts/texts.js';

const MAX_SEGMENTS = 100; // that are listed one by one

// The library, given the shape of a mark; null until it is there.
function measurerOf(viewer, mark, isLine) {
    const { measurer } = viewer.survey;
    if (!measurer) return null;
    measurer.reset(unitsOf(viewer.space, viewer.settings.coordinates));
    measurer.setUp(upAxis(viewer.settings.up));
    measurer.shape(ringsOf(mark), isLine);
    return measurer;
}

// A shape that cannot be measured, as one that reaches beyond what counts as a coordinate, has no figures.
function figuresBy(viewer, mark, isLine, figures) {
    try {
        const measurer = measurerOf(viewer, mark, isLine);
        return measurer ? figures(measurer) : {};
    } catch {
        return {};
    }
}

const areaOf = (viewer, mark) => figuresBy(viewer, mark, false, (measurer) => {
    const { area, surface, around } = measurer.area();
    return Number.isNaN(surface) ? { 'seen from above': area, around } : { area: surface, 'seen from above': area, around };
});

const profileOf = (viewer, mark) => figuresBy(viewer, mark, true, (measurer) => ({ length: measurer.startProfile(mark.width), width: mark.width }));

// The volume of all points inside, or of those that have been read.
function volumeOf(viewer, mark) {
    const { result } = viewer.survey.of(mark);
    if (!result) return {};
    const { above, below, area, points, empty, draped } = result;
    return points > 0 ? { above, below, area, points, 'without points': empty, ...(draped > 0 ? { draped } : {}) } : { points };
}

// Of a path of which some points have no height of their own: as seen from above, for nothing was measured of the rest.
function flatDistanceOf(points, frame) {
    const segments = points.slice(1).map((p, i) => geometry.segment(points[i], p, frame));
    const each = segments.slice(0, MAX_SEGMENTS).map(({ level, bearing }, i) => [`segment ${i + 1}`, { level, ...(bearing === undefined ? {} : { bearing }) }]);
    return { level: segments.reduce((total, { level }) => total + level, 0), ...(segments.length > 1 ? Object.fromEntries(each) : { bearing: segments[0].bearing }) };
}

// The sums of a path, and each of its segments.
function distanceOf(points, frame) {
    const segments = points.slice(1).map((p, i) => geometry.segment(points[i], p, frame));
    if (segments.length === 1) return segments[0];
    const sum = (name) => segments.reduce((total, s) => total + s[name], 0);
    const each = segments.slice(0, MAX_SEGMENTS).map(({ length, slope, bearing }, i) => [`segment ${i + 1}`, { length, slope, ...(bearing === undefined ? {} : { bearing }) }]);
    return { length: geometry.pathLength(points), level: sum('level'), rise: sum('rise'), ...Object.fromEntries(each) };
}

function circleOf(viewer, points) {
    const found = geometry.circle(points);
    if (!found) return {};
    const { radius, centre } = found;
    return { radius, diameter: 2 * radius, circumference: 2 * Math.PI * radius, centre: namedCoordinates(viewer.toWorld(centre), viewer.space, viewer.settings.coordinates).join(', ') };
}

function overPlaneOf(points, frame) {
    const { height, plumb, tilt } = geometry.overPlane(points, frame) ?? {};
    if (height === undefined) return {};
    return { 'over plane': height, ...(plumb === undefined ? {} : { plumb }), tilt };
}

function planeOf({ normal, offset, rms, inliers }, points) {
    const terms = normal.map((n, i) => `${n < 0 ? '−' : i > 0 ? '+' : ''}${Math.abs(n).toFixed(6)} ${'xyz'[i]}`).join(' ');
    return { equation: `${terms} = ${offset.toFixed(3)}`, area: geometry.area(points), rms, points: inliers };
}

// The figures of a mark: { name: number }, in the units in which the data set is drawn.
export function figuresOf(viewer, mark) {
    const { kind, points: world, size } = mark;
    if (kind === 'clip') return { 'size x': size[0], 'size y': size[1], 'size z': size[2] };
    const frame = frameOf(viewer.settings.up);
    const points = world.map((p) => viewer.toLocal(p));
    switch (kind) {
        case 'distance':
            return mark.flat ? flatDistanceOf(points, frame) : distanceOf(points, frame);
        case 'area':
            return areaOf(viewer, mark);
        case 'volume':
            return mark.id ? volumeOf(viewer, mark) : {};
        case 'profile':
            return profileOf(viewer, mark);
        case 'plane':
            return planeOf(mark, points);
        default:
            return mark.flat ? {} : ofHeights(viewer, mark, points, frame);
    }
}

// Figures that are none without the heights of all points.
function ofHeights(viewer, { kind }, points, frame) {
    const up = upAxis(viewer.settings.up).axis;
    const [a, b] = points;
    switch (kind) {
        case 'height':
            return { height: Math.abs(b[up] - a[up]), level: geometry.levelDistance(a, b, up), distance: geometry.distance(a, b) };
        case 'angle':
            return { angle: geometry.angle(points) };
        case 'circle':
            return circleOf(viewer, points);
        case 'over':
            return overPlaneOf(points, frame);
        default:
            return {};
    }
}

const POWERS = table({ rise: 1, radius: 1, diameter: 1, circumference: 1, 'over plane': 1, plumb: 1, length: 1, height: 1, level: 1, distance: 1, around: 1, width: 1, area: 2, 'seen from above': 2, above: 3, below: 3, 'size x': 1, 'size y': 1, 'size z': 1 });
const ANGLES = new Set(['angle', 'bearing', 'tilt']);
const STEEP = 80; // degrees: beyond it a percentage says nothing
const EXPONENTS = ['', '', '²', '³'];

function number(v, digits) {
    const text = v.toFixed(Math.max(0, Math.min(9, digits)));
    const [whole, rest] = text.split('.');
    return whole.replace(/\B(?=(\d{3})+$)/g, '\u2009') + (rest ? `.${rest}` : '');
}

// '12.345 m'; digits after the point as the file has them in its coordinates, for lengths; five that matter otherwise.
// settings: of the viewer, which say what figures are shown in.
export function figureText(name, v, meta, settings) {
    if (typeof v === 'string') return v;
    if (typeof v === 'object') return Object.entries(v).map(([part, value]) => figureText(part, value, meta, settings)).join(' · ');
    if (name === 'slope') return Math.abs(v) > STEEP ? `${v.toFixed(2)}°` : `${(100 * Math.tan((v * Math.PI) / 180)).toFixed(1)} % (${v.toFixed(2)}°)`;
    if (ANGLES.has(name)) return `${v.toFixed(2)}°`;
    if (name === 'points' || name === 'draped') return number(v, 0);
    if (name === 'without points') return t('figure.share', { n: Math.round(100 * v) });
    const power = POWERS[name] ?? 1;
    const { value, unit } = shown(v, drawnMetres(meta, settings.coordinates), settings.units, power);
    const step = Math.min(...meta.scale.map((s, i) => s * meta.stretch[i])) * (v ? value / v : 1);
    const digits = power === 1 ? Math.ceil(-Math.log10(step) - 1e-6) : value === 0 ? 1 : 5 - Math.ceil(Math.log10(Math.max(Math.abs(value), 1e-9)));
    return `${number(value, Math.max(power === 1 ? 0 : 1, digits))}${unit ? `\u00a0${unit}${EXPONENTS[power]}` : ''}`;
}
