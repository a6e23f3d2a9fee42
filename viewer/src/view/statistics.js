// Points per level of the nodes drawn, as an array indexed by level.
export function sumByLevel(nodes) {
    const sums = [];
    for (const node of nodes) {
        while (sums.length <= node.level) sums.push(0);
        sums[node.level] += node.numPoints;
    }
    return sums;
}
