// Lengths, angles and areas of marks, of points [x, y, z] in drawn coordinates. up: the axis that points up (0, 1, 2). Pure.

export const subtract = (a, b) => a.map((c, i) => c - b[i]);
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(...a);

export const distance = (a, b) => length(subtract(a, b));

export const pathLength = (points) => points.slice(1).reduce((sum, p, i) => sum + distance(points[i], p), 0);

// The part of a distance that is level.
export const levelDistance = (a, b, up) => Math.hypot(...subtract(a, b).filter((_, i) => i !== up));

// The angle at the second of three points, in degrees.
export function angle([a, b, c]) {
    const [u, v] = [subtract(a, b), subtract(c, b)];
    return (Math.atan2(length(cross(u, v)), dot(u, v)) * 180) / Math.PI;
}

// Of a polygon in space: half the length of the sum of the cross products of its edges (Newell).
export function area(points) {
    const [first] = points;
    const sum = [0, 0, 0];
    for (let i = 1; i + 1 < points.length; i++) cross(subtract(points[i], first), subtract(points[i + 1], first)).forEach((c, k) => (sum[k] += c));
    return length(sum) / 2;
}

const DEGREES = 180 / Math.PI;
const clockwise = (angle) => (angle < 0 ? angle + 360 : angle);

// From one point to another. frame: [right, north, up], unit vectors. Slopes and bearings are degrees; a bearing turns from north
// to the east, and there is none where nothing is level.
export function segment(a, b, frame) {
    const [east, north, rise] = frame.map((direction) => dot(subtract(b, a), direction));
    const level = Math.hypot(east, north);
    const bearing = level > 0 ? { bearing: clockwise(Math.atan2(east, north) * DEGREES) } : {};
    return { length: distance(a, b), level, rise, slope: Math.atan2(rise, level) * DEGREES, ...bearing };
}

// A unit vector; null where there is no direction.
function unit(a) {
    const size = length(a);
    return size > 0 ? a.map((c) => c / size) : null;
}

// The circle through three points: { radius, centre, axes: two unit vectors of its plane }; null where they are in line.
export function circle([a, b, c]) {
    const [u, v] = [subtract(b, a), subtract(c, a)];
    const n = cross(u, v);
    const twice = 2 * dot(n, n);
    if (!(twice > 1e-20 * dot(u, u) * dot(v, v))) return null;
    const [uu, vv] = [dot(u, u), dot(v, v)];
    const to = cross(v.map((x, i) => uu * x - vv * u[i]), n).map((x) => x / twice);
    const first = unit(u);
    return { radius: length(to), centre: a.map((x, i) => x + to[i]), axes: [first, unit(cross(n, first))] };
}

// How far a point lies from the plane through three others, and over it: { height: along the normal that points up, plumb: along up,
// tilt: of the plane, in degrees, foot }. frame: as of segment(). null where the three are in line.
export function overPlane([a, b, c, p], frame) {
    const n = cross(subtract(b, a), subtract(c, a));
    const normal = unit(n);
    if (!normal || !(length(n) > 1e-10 * distance(a, b) * distance(a, c))) return null;
    const rise = dot(normal, frame[2]);
    const upwards = rise < 0 ? normal.map((x) => -x) : normal;
    const height = dot(subtract(p, a), upwards);
    const plumb = Math.abs(rise) > 1e-9 ? { plumb: height / Math.abs(rise) } : {};
    return { height, ...plumb, tilt: Math.acos(Math.min(1, Math.abs(rise))) * DEGREES, foot: p.map((x, i) => x - height * upwards[i]) };
}

// Three corners of the plane normal · x = offset, around a point and so far apart.
export function cornersOfPlane(normal, offset, near, size) {
    const squared = dot(normal, normal);
    const shift = (dot(normal, near) - offset) / squared;
    const foot = near.map((x, i) => x - shift * normal[i]);
    const least = normal.map(Math.abs).indexOf(Math.min(...normal.map(Math.abs)));
    const first = unit(cross(normal, [0, 1, 2].map((i) => (i === least ? 1 : 0))));
    const second = unit(cross(normal, first));
    return [foot, ...[first, second].map((d) => foot.map((x, i) => x + size * d[i]))];
}
