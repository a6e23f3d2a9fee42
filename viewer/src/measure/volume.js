// The volume between points and the plane through the corners of a polygon: a grid over the polygon, seen from above, whose
// cells have the mean height of their points. Cells without points get that of their neighbours. Pure.
import { insideTest, levelArea, planeOver } from './geometry.js';

const MAX_CELLS = 200; // along the longer side
const POINTS_PER_CELL = 4;

function gridOver(polygon, up, count) {
    const flat = polygon.map((p) => p.filter((_, i) => i !== up));
    const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((k) => f(...flat.map((p) => p[k]))));
    const [width, height] = [high[0] - low[0], high[1] - low[1]];
    const wanted = Math.sqrt((width * height * POINTS_PER_CELL) / Math.max(1, count));
    const side = Math.max(wanted, Math.max(width, height) / MAX_CELLS) || 1;
    return { low, side, columns: Math.max(1, Math.ceil(width / side)), rows: Math.max(1, Math.ceil(height / side)) };
}

// Fills cells without a height from those beside them, ring by ring.
function fillGaps(heights, inside, { columns, rows }) {
    let gaps = [...inside.keys()].filter((i) => inside[i] && Number.isNaN(heights[i]));
    const empty = gaps.length;
    while (gaps.length > 0) {
        const found = [];
        for (const i of gaps) {
            const [x, y] = [i % columns, Math.floor(i / columns)];
            let [sum, n] = [0, 0];
            for (const [u, v] of [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]]) {
                const h = u >= 0 && v >= 0 && u < columns && v < rows ? heights[v * columns + u] : NaN;
                if (!Number.isNaN(h)) [sum, n] = [sum + h, n + 1];
            }
            if (n > 0) found.push([i, sum / n]);
        }
        if (found.length === 0) break;
        for (const [i, h] of found) heights[i] = h;
        const done = new Set(found.map(([i]) => i));
        gaps = gaps.filter((i) => !done.has(i));
    }
    return empty;
}

// points: [x, y, z, x, …] of what lies over or under the polygon. Returns { above, below, area, points, empty: the share of
// cells without points }, or null where there is no point.
export function volumeOver(points, polygon, up) {
    const isInside = insideTest(polygon, up);
    const [a, b] = [0, 1, 2].filter((i) => i !== up);
    const plane = planeOver(polygon, up);
    const own = [];
    for (let i = 0; i < points.length; i += 3) if (isInside(points[i + a], points[i + b])) own.push(i);
    if (own.length === 0) return null;
    const grid = gridOver(polygon, up, own.length);
    const { low, side, columns, rows } = grid;
    const [sums, counts] = [new Float64Array(columns * rows), new Uint32Array(columns * rows)];
    for (const i of own) {
        const [x, y] = [points[i + a], points[i + b]];
        const cell = Math.min(rows - 1, Math.floor((y - low[1]) / side)) * columns + Math.min(columns - 1, Math.floor((x - low[0]) / side));
        sums[cell] += points[i + up] - plane.at(x, y);
        counts[cell]++;
    }
    const heights = sums.map((sum, i) => sum / counts[i]); // NaN without points
    const inside = Array.from(heights, (_, i) => isInside(low[0] + ((i % columns) + 0.5) * side, low[1] + (Math.floor(i / columns) + 0.5) * side));
    const cells = inside.filter(Boolean).length;
    if (cells === 0) return null;
    const empty = fillGaps(heights, inside, grid);
    const area = levelArea(polygon, up);
    const cellArea = area / cells; // cells at the border count as a whole or not at all; together they are the polygon
    let [above, below] = [0, 0];
    inside.forEach((isIn, i) => {
        if (isIn && heights[i] > 0) above += heights[i] * cellArea;
        if (isIn && heights[i] < 0) below -= heights[i] * cellArea;
    });
    return { above, below, area, points: own.length, empty: empty / cells };
}
