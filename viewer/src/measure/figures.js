// What a mark measures, as numbers with names, and as text.
import { upAxis } from '../view/up_axis.js';
import * as geometry from './geometry.js';
import { volumeOver } from './volume.js';
import { table } from '../data/table.js';

// The box of points seen from above, endless in height.
export function reachOf(points, up, margin = 0) {
    const [min, max] = [Math.min, Math.max].map((f) => [0, 1, 2].map((i) => f(...points.map((p) => p[i]))));
    for (let i = 0; i < 3; i++) [min[i], max[i]] = i === up ? [-Infinity, Infinity] : [min[i] - margin, max[i] + margin];
    return { min, max };
}

// The figures of a mark: { name: number }, in the units in which the data set is drawn.
export function figuresOf(viewer, mark) {
    const { kind, points: world, width, size } = mark;
    if (kind === 'clip') return { 'size x': size[0], 'size y': size[1], 'size z': size[2] };
    const up = upAxis(viewer.settings.up).axis;
    const points = world.map((p) => viewer.toLocal(p));
    const [a, b] = points;
    const holes = (area) => (mark.holes ?? []).reduce((sum, ring) => sum + area(ring.map((p) => viewer.toLocal(p)), up), 0);
    switch (kind) {
        case 'distance':
            return { length: geometry.pathLength(points) };
        case 'height':
            return { height: Math.abs(b[up] - a[up]), level: geometry.levelDistance(a, b, up), distance: geometry.distance(a, b) };
        case 'angle':
            return { angle: geometry.angle(points) };
        case 'area':
            return { area: geometry.area(points) - holes(geometry.area), 'seen from above': geometry.levelArea(points, up) - holes(geometry.levelArea), around: geometry.pathLength([...points, a]) };
        case 'volume': {
            const volume = volumeOver(viewer.drawnPoints(reachOf(points, up)), points, up);
            return volume ? { above: volume.above, below: volume.below, area: volume.area, points: volume.points, 'without points': volume.empty } : { points: 0 };
        }
        case 'plane': {
            const { normal, offset, rms, inliers } = mark;
            const terms = normal.map((n, i) => `${n < 0 ? '−' : i > 0 ? '+' : ''}${Math.abs(n).toFixed(6)} ${'xyz'[i]}`).join(' ');
            return { equation: `${terms} = ${offset.toFixed(3)}`, area: geometry.area(points), rms, points: inliers };
        }
        case 'profile':
            return { length: points.slice(1).reduce((sum, p, i) => sum + geometry.levelDistance(points[i], p, up), 0), width };
        default:
            return {};
    }
}

const POWERS = table({ length: 1, height: 1, level: 1, distance: 1, around: 1, width: 1, area: 2, 'seen from above': 2, above: 3, below: 3, 'size x': 1, 'size y': 1, 'size z': 1 });
const EXPONENTS = ['', '', '²', '³'];

// Metres of a unit, and its name: the two kinds of feet are half a metre apart in 250 km.
const UNIT_NAMES = [[1, 'm'], [1000, 'km'], [0.3048, 'ft'], [1200 / 3937, 'US ft'], [0.9144, 'yd']];

// 'm', or what the unit is in metres where it has no name here.
export const unitName = (metres) => UNIT_NAMES.find(([size]) => Math.abs(metres / size - 1) < 1e-7)?.[1] ?? `${metres} m`;

// The unit of lengths as drawn, or '' where the reference system does not say.
export function unitOf({ crs, isLonLat }) {
    const metres = isLonLat ? 1 : crs?.metres;
    return metres ? UNIT_NAMES.find(([size]) => Math.abs(metres / size - 1) < 1e-7)?.[1] ?? '' : '';
}

function number(v, digits) {
    const text = v.toFixed(Math.max(0, Math.min(9, digits)));
    const [whole, rest] = text.split('.');
    return whole.replace(/\B(?=(\d{3})+$)/g, '\u2009') + (rest ? `.${rest}` : '');
}

// '12.345 m'; digits after the point as the file has them in its coordinates, for lengths; five that matter otherwise.
export function figureText(name, v, meta) {
    if (typeof v === 'string') return v;
    if (name === 'angle') return `${v.toFixed(2)}°`;
    if (name === 'points') return number(v, 0);
    if (name === 'without points') return `${Math.round(100 * v)} % of the cells`;
    const power = POWERS[name] ?? 1;
    const step = Math.min(...meta.scale.map((s, i) => s * meta.stretch[i]));
    const digits = power === 1 ? Math.ceil(-Math.log10(step) - 1e-6) : 5 - Math.ceil(Math.log10(Math.max(Math.abs(v), 1e-9)));
    const unit = unitOf(meta);
    return `${number(v, Math.max(power === 1 ? 0 : 1, digits))}${unit ? `\u00a0${unit}${EXPONENTS[power]}` : ''}`;
}
