// Which points are meant: those in polygons and clip boxes that pass the filters, with the classes that edits gave. Written as
// the GeoJSON that `mote view` and `mote convert --edits` take (cli/edits/edit_list.h), and decided here as they decide it: places in polygons by
// the library's own code.
import { Measurer } from '../measure/measurer.js';

const AXES = 'xyz';
const SLACK = 8 * Number.EPSILON; // of the larger end of a range: what a stored integer loses when it is scaled
const levelAxes = (up) => [0, 1, 2].filter((i) => i !== up);

// ---- writing

const closed = (ring) => [...ring, ring[0]];
// As seen along an axis: the two others first, then what is left of it.
const seenAlong = (up) => (p) => [...levelAxes(up).map((i) => p[i]), p[up]];

// A feature of polygons, each a list of rings of [x, y, z]. properties: class, low, high, filter, text.
export function areaFeature(polygons, up, properties = {}) {
    const rings = polygons.map((polygon) => polygon.map((ring) => closed(ring.map(seenAlong(up)))));
    return { type: 'Feature', geometry: { type: 'MultiPolygon', coordinates: rings }, properties: { ...properties, ...(up === 2 ? {} : { up: AXES[up] }) } };
}

// The filter of a cloud, as point_test.h has it; null where it hides nothing. boxes: marks of kind clip; up: { axis, sign }.
export function filterOf(filter, { scale, stretch }, boxes, { axis, sign }) {
    const out = {};
    if (filter.hidden.size > 0 && filter.channel) out.hide = [...filter.hidden].sort((a, b) => a - b);
    if (filter.returns) out.returns = filter.returns;
    const ranges = [...filter.ranges.values()].map(({ channel, range: [low, high] }) => {
        if (channel) return [channel.key, [low, high]];
        return [AXES[axis], [sign * low, sign * high].sort((a, b) => a - b).map((v, i) => v + (i === 0 ? -scale[axis] : scale[axis]) / 2)];
    });
    if (ranges.length > 0) out.ranges = Object.fromEntries(ranges);
    if (boxes.length > 0) out.boxes = boxes.map(({ center, size, yaw, inside }) => ({ center, half: size.map((s) => s / 2), stretch, cos: Math.cos(yaw), sin: Math.sin(yaw), up: AXES[axis], out: !inside }));
    return Object.keys(out).length > 0 ? out : null;
}

// edits and areas: features of areaFeature(), those with a class and those without.
export const requestOf = (edits, areas, filter) => ({ type: 'FeatureCollection', ...(filter ? { mote: { filter } } : {}), features: [...edits, ...areas] });

// ---- deciding

function inBox({ center, half, stretch, cos, sin, up }, p) {
    const axis = AXES.indexOf(up);
    const [a, b] = levelAxes(axis);
    const from = [0, 1, 2].map((k) => (p[k] - center[k]) * stretch[k]);
    const [u, v] = [from[a] * cos + from[b] * sin, from[b] * cos - from[a] * sin];
    return Math.abs(from[axis]) <= half[axis] && Math.abs(u) <= half[a] && Math.abs(v) <= half[b];
}

const RETURN_TESTS = { first: (number) => number === 1, last: (number, count) => number >= count, only: (_, count) => count === 1, between: (number, count) => number > 1 && number < count };

// A test (place, i, classes) of points of a node. values(name): the numbers of an attribute there.
function filterTest(filter, values) {
    if (!filter) return () => true;
    const hidden = new Set(filter.hide ?? []);
    const ranges = Object.entries(filter.ranges ?? {}).map(([name, [low, high]]) => {
        const slack = SLACK * Math.max(Math.abs(low), Math.abs(high));
        return { axis: AXES.indexOf(name), list: AXES.includes(name) ? null : values(name), low: low - slack, high: high + slack };
    });
    const [numbers, counts] = filter.returns ? [values('return number'), values('number of returns')] : [];
    const [showing, hiding] = [false, true].map((out) => (filter.boxes ?? []).filter((box) => box.out === out));
    return (p, i, classes) => {
        if (hidden.size > 0 && hidden.has(classes[i])) return false;
        if (filter.returns && !RETURN_TESTS[filter.returns](numbers[i], counts[i])) return false;
        for (const { axis, list, low, high } of ranges) {
            const v = list ? list[i] : p[axis];
            if (!(v >= low && v <= high)) return false;
        }
        return !hiding.some((box) => inBox(box, p)) && (showing.length === 0 || showing.some((box) => inBox(box, p)));
    };
}

function areaOf({ geometry, properties }, measurer) {
    const up = AXES.indexOf(properties.up ?? 'z');
    const [a, b] = levelAxes(up);
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
    const region = measurer.region(polygons);
    const { low = -Infinity, high = Infinity } = properties;
    return { up, region, low, high, contains: (p) => p[up] >= low && p[up] <= high && region.contains(p[a], p[b]) };
}

// What a request asks for, prepared for many nodes: { bounds: { min, max } of all points that it can keep, classify(node),
// keep(node) }. module: of measuringModule(), which requests with polygons need. node: { count, place(i): [x, y, z], values(name), classes: of its points, or null }.
export function compile(request, module) {
    const measurer = request.features.length > 0 ? new Measurer(module, {}) : null;
    const edits = request.features.filter(({ properties }) => properties.class !== undefined).map((feature) => ({ ...areaOf(feature, measurer), ...feature.properties }));
    const areas = request.features.filter(({ properties }) => properties.class === undefined).map((feature) => areaOf(feature, measurer));
    const filter = request.mote?.filter ?? null;
    return {
        bounds: boundsOf(areas, (filter?.boxes ?? []).filter(({ out }) => !out), filter?.ranges ?? {}),
        names: [...edits.map((e) => e.filter), filter].flatMap((f) => [...Object.keys(f?.ranges ?? {}).filter((name) => !AXES.includes(name)), ...(f?.returns ? ['return number', 'number of returns'] : [])]),
        usesClasses: edits.length > 0 || Boolean(filter?.hide),
        // Changes node.classes; returns how many are others now.
        classify(node) {
            const before = node.classes && node.classes.slice();
            for (const edit of edits) {
                const passes = filterTest(edit.filter, node.values);
                for (let i = 0; i < node.count; i++) {
                    const p = node.place(i);
                    if (edit.contains(p) && passes(p, i, node.classes)) node.classes[i] = edit.class;
                }
            }
            return before ? before.reduce((sum, code, i) => sum + (code !== node.classes[i] ? 1 : 0), 0) : 0;
        },
        // The indices of the points that are kept.
        keep(node) {
            const passes = filterTest(filter, node.values);
            const kept = [];
            for (let i = 0; i < node.count; i++) {
                const p = node.place(i);
                if ((areas.length === 0 || areas.some((area) => area.contains(p))) && passes(p, i, node.classes)) kept.push(i);
            }
            return kept;
        },
    };
}

// The box around what areas and boxes hold, of which both have to, within ranges of coordinates.
function boundsOf(areas, boxes, ranges) {
    const own = (list) => (list.length === 0 ? [] : [{ min: [0, 1, 2].map((i) => Math.min(...list.map(({ min }) => min[i]))), max: [0, 1, 2].map((i) => Math.max(...list.map(({ max }) => max[i]))) }]);
    const ofAreas = areas.map(({ up, region, low, high }) => {
        const box = { min: [0, 0, 0], max: [0, 0, 0] };
        levelAxes(up).forEach((axis, k) => ([box.min[axis], box.max[axis]] = [region.min[k], region.max[k]]));
        [box.min[up], box.max[up]] = [low, high];
        return box;
    });
    const ofBoxes = boxes.map(({ center, half, stretch, up }) => {
        const axis = AXES.indexOf(up);
        const reach = Math.hypot(...levelAxes(axis).map((i) => half[i]));
        const size = [0, 1, 2].map((i) => (i === axis ? half[i] : reach) / stretch[i]);
        return { min: center.map((c, i) => c - size[i]), max: center.map((c, i) => c + size[i]) };
    });
    const slices = [...AXES].flatMap((name, k) => (ranges[name] ? [{ min: [0, 1, 2].map((i) => (i === k ? ranges[name][0] : -Infinity)), max: [0, 1, 2].map((i) => (i === k ? ranges[name][1] : Infinity)) }] : []));
    const both = [...own(ofAreas), ...own(ofBoxes), ...slices];
    return { min: [0, 1, 2].map((i) => Math.max(-Infinity, ...both.map(({ min }) => min[i]))), max: [0, 1, 2].map((i) => Math.min(Infinity, ...both.map(({ max }) => max[i]))) };
}
