// The points of a profile in the order in which the line passes them, as a survey found them, and as a table.
import { csv } from '../data/csv.js';
import { coordinates } from '../ui/format.js';
import { upAxis } from '../view/up_axis.js';

// parts: of a survey's result. Returns { parts, count, along, heights, colours: of each point, range: of heights }.
export function profileRows(parts, up) {
    const { axis, sign } = upAxis(up);
    const count = parts.reduce((sum, { indices }) => sum + indices.length, 0);
    const [along, heights, colours] = [new Float64Array(count), new Float64Array(count), new Uint8ClampedArray(3 * count)];
    const range = [Infinity, -Infinity];
    let at = 0;
    for (const part of parts) {
        const { cloud } = part.node;
        const { scale, offset } = cloud.dataset.meta;
        for (let i = 0; i < part.indices.length; i++, at++) {
            const height = sign * (part.steps[3 * i + axis] * scale[axis] + offset[axis]);
            [along[at], heights[at]] = [part.along[i], height];
            range[0] = Math.min(range[0], height);
            range[1] = Math.max(range[1], height);
            colours.set(cloud.colourAt(part.node, i), 3 * at);
        }
    }
    return { parts, count, along, heights, colours, range };
}

// The coordinates of a point of a part.
export const placeOf = ({ node, steps }, i) => {
    const { scale, offset } = node.cloud.dataset.meta;
    return [0, 1, 2].map((k) => steps[3 * i + k] * scale[k] + offset[k]);
};

// By along, then x, y, z, then the order of the file's nodes, as `mote measure` writes them.
function inOrder(parts) {
    const all = parts.flatMap((part, p) => Array.from(part.indices, (_, i) => ({ p, i, along: part.along[i], place: placeOf(part, i) })));
    const differences = (a, b) => [a.along - b.along, ...a.place.map((c, k) => c - b.place[k]), a.p - b.p, a.i - b.i];
    return all.sort((a, b) => differences(a, b).find((d) => d !== 0) ?? 0);
}

// x, y, z, every attribute of any of the clouds, along, aside.
export async function profileTable({ parts }) {
    const names = [];
    const columns = await Promise.all(parts.map(async ({ node }) => {
        const values = new Map((await node.cloud.exactValues(node)).map((column) => [column.key, column.values]));
        for (const name of values.keys()) if (!names.includes(name)) names.push(name);
        return values;
    }));
    const rows = inOrder(parts).map(({ p, i, along, place }) => {
        const part = parts[p];
        const own = names.map((name) => String(columns[p].get(name)?.[part.indices[i]] ?? ''));
        return [...coordinates(place, part.node.cloud.dataset.meta.scale), ...own, String(along), String(part.aside[i])];
    });
    return csv([['x', 'y', 'z', ...names, 'along', 'aside'], ...rows]);
}
