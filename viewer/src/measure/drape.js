// The height of a cloud where a corner has none of its own: that of the points nearest as seen from above. Pure.

const CELLS = 256; // along the longer side of what is asked for
const REACH = 3; // cells: farther away there is no cloud

// points: [x, y, z, x, …], of which z is the height; min, max: [x, y] of the places that will be asked for. Returns a
// function (x, y) -> height, or null where no point is near.
export function heightsOver(points, min, max) {
    const side = Math.max(max[0] - min[0], max[1] - min[1], 1e-9) / CELLS;
    const cells = new Map(); // the points in each
    for (let i = 0; i < points.length; i += 3) {
        const [u, v] = [Math.floor((points[i] - min[0]) / side), Math.floor((points[i + 1] - min[1]) / side)];
        if (u < -REACH || v < -REACH || u > CELLS + REACH || v > CELLS + REACH) continue;
        const key = u * 65536 + v;
        const cell = cells.get(key);
        if (cell) cell.push(i);
        else cells.set(key, [i]);
    }
    return (x, y) => {
        const [u, v] = [Math.floor((x - min[0]) / side), Math.floor((y - min[1]) / side)];
        let [best, least] = [null, Infinity];
        // A ring more than the first that holds a point: a nearer one may lie there.
        for (let ring = 0, last = REACH; ring <= last; ring++) {
            for (let a = -ring; a <= ring; a++) {
                for (let b = -ring; b <= ring; b++) {
                    if (Math.max(Math.abs(a), Math.abs(b)) !== ring) continue;
                    for (const i of cells.get((u + a) * 65536 + v + b) ?? []) {
                        const d = Math.hypot(points[i] - x, points[i + 1] - y);
                        if (d < least) [least, best] = [d, points[i + 2]];
                    }
                }
            }
            if (best !== null) last = Math.min(last, Math.max(ring + 1, Math.ceil(least / side)));
        }
        return best;
    };
}
