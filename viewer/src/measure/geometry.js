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
