// Points per level of the nodes drawn, as an array indexed by level. count(node): how many of a node are shown.
export function sumByLevel(nodes, count = (node) => node.numPoints) {
    const sums = [];
    for (const node of nodes) {
        while (sums.length <= node.level) sums.push(0);
        sums[node.level] += count(node);
    }
    return sums;
}
