// Where nearly all points of an octree are, if a few others stretch its cube, as src/io/potree/potree_rest.c finds it, for
// data sets that do not say so. Of the hierarchy alone: the leaves at either end of an axis that hold a hundredth of all
// points are cut off.
const CUT_SHARE = 100;
const TIMES = 16; // a cube this many times as long as what is left has strays

// The first edge behind which the others have more points than `skip`.
function cut(edges, skip) {
    edges.sort((a, b) => a.at - b.at);
    let points = 0;
    let i = 0;
    while (i + 1 < edges.length && (points += edges[i].points) <= skip) i++;
    return edges[i].at;
}

function leavesOf(root) {
    const nodes = [root];
    for (const node of nodes) nodes.push(...(node.children ?? []).filter(Boolean));
    const leaves = nodes.filter(({ children }) => !children);
    // What lies behind a page that is not read yet may be as much as a leaf, or far more.
    const usual = leaves.reduce((sum, { numPoints }) => sum + numPoints, 0) / leaves.length;
    return leaves.map((node) => ({ node, points: node.proxy ? Math.max(node.numPoints, usual) : node.numPoints }));
}

// Of what is read of an octree. Returns { min, max } as nodes have them, or null where no few points stretch it.
export function restOf(root) {
    const leaves = leavesOf(root);
    const skip = leaves.reduce((sum, { points }) => sum + points, 0) / CUT_SHARE;
    const edges = (at) => leaves.map(({ node, points }) => ({ at: at(node), points }));
    const min = [0, 1, 2].map((k) => cut(edges((n) => n.min[k]), skip));
    const max = [0, 1, 2].map((k) => -cut(edges((n) => -n.min[k] - n.size[k]), skip));
    const side = Math.max(...max.map((m, k) => (m - min[k]) / (root.size[k] || Infinity)));
    return side > 0 && side <= 1 / TIMES ? { min, max } : null;
}
