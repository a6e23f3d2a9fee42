// Lengths, angles and areas of marks, of points [x, y, z] in drawn coordinates. up: the axis that points up (0, 1, 2). Pure.

export const subtract = (a, b) => a.map((c, i) => c - b[i]);
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(...a);

export const distance = (a, b) => length(subtract(a, b));

export const pathLength = (points) => points.slice(1).reduce((sum, p, i) => sum + distance(points[i], p), 0);

// The part of a distance that is level.
export const levelDistance = (a, b, up) => Math.hypot(...subtract(a, b).filter((_, i) => i !== up));

// At the second of three points, in degrees.
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

const flat = (points, up) => points.map((p) => p.filter((_, i) => i !== up));

// Of the polygon as seen from above.
export function levelArea(points, up) {
    const p = flat(points, up);
    return Math.abs(p.reduce((sum, [x, y], i) => {
        const [u, v] = p[(i + 1) % p.length];
        return sum + (x - p[0][0]) * (v - p[0][1]) - (u - p[0][0]) * (y - p[0][1]);
    }, 0)) / 2;
}

// A test of whether a place seen from above lies in the polygon: how often a ray from it crosses the edges.
export function insideTest(points, up) {
    const p = flat(points, up);
    return (x, y) => {
        let inside = false;
        for (let i = 0, j = p.length - 1; i < p.length; j = i++) {
            const [[xi, yi], [xj, yj]] = [p[i], p[j]];
            if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
        }
        return inside;
    };
}

// The plane through points, nearest in height: { at(x, y) -> height }. Points in a line give a level plane.
export function planeOver(points, up) {
    const p = flat(points, up);
    const n = p.length;
    const mean = [0, 1].map((k) => p.reduce((s, q) => s + q[k], 0) / n);
    const height = points.reduce((s, q) => s + q[up], 0) / n;
    let [xx, xy, yy, xz, yz] = [0, 0, 0, 0, 0];
    p.forEach(([x, y], i) => {
        const [u, v, w] = [x - mean[0], y - mean[1], points[i][up] - height];
        [xx, xy, yy, xz, yz] = [xx + u * u, xy + u * v, yy + v * v, xz + u * w, yz + v * w];
    });
    const d = xx * yy - xy * xy;
    const isFlat = !(Math.abs(d) > 1e-12 * (xx + yy) ** 2);
    const [a, b] = isFlat ? [0, 0] : [(xz * yy - yz * xy) / d, (yz * xx - xz * xy) / d];
    return { at: (x, y) => height + a * (x - mean[0]) + b * (y - mean[1]) };
}
