// Which places polygons hold, exactly as src/shapes/region.c decides it: coordinates are rounded to fifteen digits of the
// largest, then whole numbers decide; borders belong to a polygon. Pure.

const MAX_STEPS = 1e15;
const MAX_DECIMAL = 22;
const UNSURE = 2 ** -50; // of a difference of two rounded products, relative to their sizes

// The sign of a * b - c * d, of whole numbers below 2^53.
function compare(a, b, c, d) {
    const [left, right] = [a * b, c * d];
    const unsure = (Math.abs(left) + Math.abs(right)) * UNSURE;
    if (left - right > unsure) return 1;
    if (left - right < -unsure) return -1;
    const exact = BigInt(a) * BigInt(b) - BigInt(c) * BigInt(d);
    return exact > 0n ? 1 : exact < 0n ? -1 : 0;
}

// polygons: each a list of rings of [x, y]. Returns { contains(x, y), min: [x, y], max }.
export function regionOf(polygons) {
    const corners = polygons.flat(2);
    const [min, max] = [Math.min, Math.max].map((f) => [0, 1].map((k) => corners.reduce((m, p) => f(m, p[k]), corners[0][k])));
    const largest = Math.max(...min.map(Math.abs), ...max.map(Math.abs));
    let perUnit = 1;
    for (let i = 0; i < MAX_DECIMAL && largest * (perUnit * 10) <= MAX_STEPS; i++) perUnit *= 10;
    const steps = (v) => Math.floor(v * perUnit + 0.5);
    // [low x, low y, high x, high y] of each edge, upwards, by polygon.
    const edges = polygons.map((rings) => rings.flatMap((ring) => ring.map((p, i) => {
        const [a, b] = [ring.at(i - 1), p].map(([x, y]) => [steps(x), steps(y)]);
        return a[1] <= b[1] ? [...a, ...b] : [...b, ...a];
    })));
    const isIn = (list, x, y) => {
        let inside = false;
        for (const [lx, ly, hx, hy] of list) {
            if (y < ly || y > hy) continue;
            if (ly === hy) {
                if ((x >= lx && x <= hx) || (x >= hx && x <= lx)) return true;
                continue;
            }
            const sign = compare(x - lx, hy - ly, hx - lx, y - ly);
            if (sign === 0) return true;
            if (y !== hy && sign > 0) inside = !inside;
        }
        return inside;
    };
    const reach = 2 / perUnit;
    return {
        min, max,
        contains: (x, y) => x >= min[0] - reach && x <= max[0] + reach && y >= min[1] - reach && y <= max[1] + reach && edges.some((list) => isIn(list, steps(x), steps(y))),
    };
}
