// Which point lies under the cursor, and what is seen at all: searches on the CPU over the drawn nodes, so that nothing
// waits for the GPU. hiddenIn(node) gives a test of a point's index, or null where all points of the node are shown.
import { intersectsBox } from './traversal.js';

const MAX_TESTS = 400000;
const SIDE_WEIGHT = 20; // of parallel rays: how much nearer a point at the edge of the radius must be
const MAX_DOT_CELLS = 8; // two dots, each at a corner of four
const MIN_DOT_POINTS = 100; // fewer are points, and no cloud
const showsAll = () => null;

function hitsBox(ray, min, max, slack) {
    let near = 0;
    let far = Infinity;
    for (let i = 0; i < 3; i++) {
        const inverse = 1 / ray.direction[i];
        const a = (min[i] - slack - ray.origin[i]) * inverse;
        const b = (max[i] + slack - ray.origin[i]) * inverse;
        if (Number.isNaN(a) || Number.isNaN(b)) continue;
        near = Math.max(near, Math.min(a, b));
        far = Math.min(far, Math.max(a, b));
    }
    return near <= far;
}

// The box of a node's points.
function pointBox(node) {
    const { min, max } = node.payload.box;
    return { min: min.map((v, i) => v + node.min[i]), max: max.map((v, i) => v + node.min[i]) };
}

// How many points go on from one that is tested to the next.
const stepFor = (nodes) => Math.max(1, Math.ceil(nodes.reduce((sum, node) => sum + node.numPoints, 0) / MAX_TESTS));

const pointOf = (node, index) => [0, 1, 2].map((i) => node.payload.position[3 * index + i] + node.min[i]);

const distanceTo = (ray, point) => Math.hypot(...point.map((p, i) => p - ray.origin[i]));

// A point counts when it is seen within `radius` (radians; of parallel rays a length) of the ray; the nearest to the eye wins, with points
// off the ray's centre pushed back a little, so that a direct hit beats a neighbour.
function searchNode(node, ray, radius, step, isHidden, best) {
    const { position } = node.payload;
    const o = ray.origin.map((c, i) => c - node.min[i]);
    const [dx, dy, dz] = ray.direction;
    const limit = radius * radius;
    for (let i = 0; i < position.length; i += 3 * step) {
        const x = position[i] - o[0];
        const y = position[i + 1] - o[1];
        const z = position[i + 2] - o[2];
        const along = x * dx + y * dy + z * dz;
        if (along <= 0) continue;
        const off = (x * x + y * y + z * z - along * along) / (ray.isParallel ? 1 : along * along);
        if (off > limit || isHidden?.(i / 3)) continue;
        const score = ray.isParallel ? along + (SIDE_WEIGHT * radius * off) / limit : along * (1 + off / limit);
        if (score < best.score) Object.assign(best, { score, node, index: i / 3 });
    }
}

// nodes: the drawn nodes; ray: { origin, direction }. Returns { point, node, index, distance } or null.
export function pick(nodes, ray, radius, hiddenIn = showsAll) {
    const hit = nodes.filter((node) => {
        const { min, max } = pointBox(node);
        const reach = Math.hypot(...min.map((m, i) => Math.max(Math.abs(m - ray.origin[i]), Math.abs(max[i] - ray.origin[i]))));
        return hitsBox(ray, min, max, ray.isParallel ? radius : reach * radius);
    });
    const step = stepFor(hit);
    const best = { score: Infinity, node: null, index: 0 };
    for (const node of hit) searchNode(node, ray, radius, step, hiddenIn(node), best);
    if (!best.node) return null;
    const { node, index } = best;
    const point = pointOf(node, index);
    return { point, node, index, distance: distanceTo(ray, point) };
}

// Calls visit(index, x, y, z) for points of the node that lie within the planes; x, y, z are relative to the node's
// corner. A visit that returns true ends the search.
function visitSeen(node, planes, step, isHidden, visit) {
    const { position } = node.payload;
    const own = planes.map(([a, b, c, d]) => [a, b, c, d + a * node.min[0] + b * node.min[1] + c * node.min[2]]);
    for (let i = 0; i < position.length; i += 3 * step) {
        const [x, y, z] = [position[i], position[i + 1], position[i + 2]];
        let isInside = true;
        for (const [a, b, c, d] of own) isInside &&= a * x + b * y + c * z + d >= 0;
        if (isInside && !isHidden?.(i / 3) && visit(i / 3, x, y, z)) return true;
    }
    return false;
}

function nodesWithin(nodes, planes) {
    return nodes.filter((node) => {
        const { min, max } = pointBox(node);
        return intersectsBox(planes, min, max.map((m, i) => m - min[i]));
    });
}

// The point on the screen that is nearest to the ray on the screen, however far. Null where none is on the screen.
export function nearestSeen(nodes, ray, planes, hiddenIn = showsAll) {
    const within = nodesWithin(nodes, planes);
    const step = stepFor(within);
    const [dx, dy, dz] = ray.direction;
    const best = { cosine: -Infinity, node: null, index: 0 };
    for (const node of within) {
        const o = ray.origin.map((c, i) => c - node.min[i]);
        visitSeen(node, planes, step, hiddenIn(node), (index, px, py, pz) => {
            const [x, y, z] = [px - o[0], py - o[1], pz - o[2]];
            const along = x * dx + y * dy + z * dz;
            const cosine = ray.isParallel ? along * along - x * x - y * y - z * z : along / Math.hypot(x, y, z);
            if (cosine > best.cosine) Object.assign(best, { cosine, node, index });
            return false;
        });
    }
    if (!best.node) return null;
    const point = pointOf(best.node, best.index);
    return { point, node: best.node, index: best.index, distance: distanceTo(ray, point) };
}

// Whether any point is on the screen.
export function seesAny(nodes, planes, hiddenIn = showsAll) {
    const within = nodesWithin(nodes, planes);
    const step = stepFor(within);
    return within.some((node) => visitSeen(node, planes, step, hiddenIn(node), () => true));
}

// Whether the points on the screen lie in a few places that are no larger than `pixels`: dots. screen(point): where a point
// is, in pixels, or null.
export function seesDots(nodes, planes, screen, pixels, hiddenIn = showsAll) {
    const within = nodesWithin(nodes, planes);
    const step = stepFor(within);
    const cells = new Set();
    let count = 0;
    const isWide = within.some((node) => visitSeen(node, planes, step, hiddenIn(node), (_, ...p) => {
        const at = screen(p.map((c, i) => c + node.min[i]));
        if (at) cells.add(at.map((c) => Math.floor(c / pixels)).join());
        count++;
        return cells.size > MAX_DOT_CELLS;
    }));
    return !isWide && count >= MIN_DOT_POINTS;
}

// The box of all points of these nodes that are shown, or null.
export function shownBox(nodes, hiddenIn = showsAll) {
    const box = { min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] };
    for (const node of nodes) {
        visitSeen(node, [], 1, hiddenIn(node), (_, ...p) => {
            for (let i = 0; i < 3; i++) {
                box.min[i] = Math.min(box.min[i], p[i] + node.min[i]);
                box.max[i] = Math.max(box.max[i], p[i] + node.min[i]);
            }
            return false;
        });
    }
    return box.min[0] <= box.max[0] ? box : null;
}
