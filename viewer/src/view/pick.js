// Which point lies under the cursor: a search on the CPU over the drawn nodes, so that nothing waits for the GPU.
const MAX_TESTS = 400000;

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

// A point counts when it is seen within `radius` (radians) of the ray; the nearest to the eye wins, with points
// off the ray's centre pushed back a little, so that a direct hit beats a neighbour.
function searchNode(node, ray, radius, step, best) {
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
        const off = (x * x + y * y + z * z - along * along) / (along * along);
        if (off > limit) continue;
        const score = along * (1 + off / limit);
        if (score < best.score) Object.assign(best, { score, node, index: i / 3 });
    }
}

// nodes: the drawn nodes; ray: { origin, direction }. Returns { point, node, index, distance } or null.
export function pick(nodes, ray, radius) {
    const hit = nodes.filter((node) => {
        const min = node.payload.box.min.map((v, i) => v + node.min[i]);
        const max = node.payload.box.max.map((v, i) => v + node.min[i]);
        const reach = Math.hypot(...min.map((m, i) => Math.max(Math.abs(m - ray.origin[i]), Math.abs(max[i] - ray.origin[i]))));
        return hitsBox(ray, min, max, reach * radius);
    });
    const total = hit.reduce((sum, node) => sum + node.numPoints, 0);
    const step = Math.max(1, Math.ceil(total / MAX_TESTS));
    const best = { score: Infinity, node: null, index: 0 };
    for (const node of hit) searchNode(node, ray, radius, step, best);
    if (!best.node) return null;
    const { node, index } = best;
    const point = [0, 1, 2].map((i) => node.payload.position[3 * index + i] + node.min[i]);
    return { point, node, index, distance: Math.hypot(...point.map((p, i) => p - ray.origin[i])) };
}
