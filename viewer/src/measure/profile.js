// The points near a path seen from above, by their distance along it. Pure.

// points: [x, y, z, x, …]; path: [[x, y, z], …]; width: of the strip. Calls visit(index of the point, distance along, height, aside).
export function walkProfile(points, path, width, up, visit) {
    const [a, b] = [0, 1, 2].filter((i) => i !== up);
    const half = width / 2;
    let start = 0;
    const legs = path.slice(1).map((to, i) => {
        const [x, y] = [path[i][a], path[i][b]];
        const length = Math.hypot(to[a] - x, to[b] - y);
        const leg = { x, y, dx: (to[a] - x) / length, dy: (to[b] - y) / length, length, start };
        start += length;
        return leg;
    }).filter(({ length }) => length > 0);
    for (let i = 0; i < points.length; i += 3) {
        let [best, at] = [Infinity, 0];
        for (const { x, y, dx, dy, length, start: from } of legs) {
            const [u, v] = [points[i + a] - x, points[i + b] - y];
            const along = u * dx + v * dy;
            const aside = u * dy - v * dx;
            if (along >= 0 && along <= length && Math.abs(aside) <= half && Math.abs(aside) < Math.abs(best)) [best, at] = [aside, from + along];
        }
        if (best !== Infinity) visit(i / 3, at, points[i + up], best);
    }
    return start;
}
