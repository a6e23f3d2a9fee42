// Volumes, areas and profiles by the library's own code, compiled to WebAssembly (viewer/wasm/page_measure.c): the same digits as
// `mote measure`. Without a page: a module is given, so that tests in node use it too.
import { t } from '../texts/texts.js';

let compiled = null;
// The module of the page, fetched once.
export function measuringModule(url = new URL('measure.wasm', globalThis.location?.href)) {
    compiled ??= fetch(url).then(async (response) => {
        if (!response.ok) throw new Error(t('measure.wasm'));
        return WebAssembly.compile(await response.arrayBuffer());
    });
    compiled.catch(() => (compiled = null)); // the next figure asks again
    return compiled;
}

export const BASES = ['plane', 'lowest', 'level'];

// One shape and what is measured of it.
export class Measurer {
    // units { metres, radians: of x and y, 0 where unknown or not that; vertical: metres of heights, or 0 }
    constructor(module, units) {
        this.wasm = new WebAssembly.Instance(module).exports;
        this.reset(units);
    }

    // Begins anew, for another shape.
    reset(units) {
        this.wasm.measure_reset();
        this.units = { metres: units.metres || 0, radians: units.radians || 0, vertical: units.vertical || 0 };
        this.axes = [0, 1, 2];
        this.signs = [1, 1, 1];
    }

    fault() {
        const bytes = new Uint8Array(this.wasm.memory.buffer, this.wasm.measure_fault());
        return new TextDecoder().decode(bytes.slice(0, Math.max(0, bytes.indexOf(0))));
    }

    check(failed) {
        if (failed) throw new Error(this.fault());
    }

    // up { axis, sign }: heights are along that axis; the other two, in their order, are x and y.
    setUp({ axis, sign }) {
        this.axes = [...[0, 1, 2].filter((i) => i !== axis), axis];
        this.signs = [1, 1, sign];
    }

    // A polygon, its holes behind it, or a line alone: positions [x, y, z] in coordinates of the file; a height of null is none.
    shape(rings, isLine) {
        const { wasm } = this;
        const [x, y] = this.axes;
        if (rings.some((ring) => ring.some((p) => p[x] === null || p[y] === null))) throw new Error(t('measure.flat'));
        this.check(wasm.measure_shape(isLine ? 1 : 0));
        for (const ring of rings) {
            this.check(wasm.measure_ring());
            for (const p of ring) this.check(wasm.measure_position(...this.axes.map((axis, i) => (p[axis] === null ? NaN : this.signs[i] * p[axis]))));
        }
        this.check(wasm.measure_shape_end());
    }

    // Polygons, each a list of rings of [x, y]: { contains(x, y), min: [x, y], max }. Borders belong to them.
    region(polygons) {
        const { wasm } = this;
        for (const rings of polygons) {
            this.check(wasm.measure_shape(0));
            for (const ring of rings) {
                this.check(wasm.measure_ring());
                for (const [x, y] of ring) this.check(wasm.measure_position(x, y, 0));
                this.check(wasm.measure_ring_end());
            }
            this.check(wasm.measure_shape_end());
        }
        const region = wasm.measure_region();
        this.check(region === 0);
        const [min, max] = [Math.min, Math.max].map((f) => [0, 1].map((k) => polygons.flat(2).reduce((m, p) => f(m, p[k]), polygons[0][0][0][k])));
        return { min, max, contains: (x, y) => wasm.measure_region_contains(region, x, y) === 1 };
    }

    area() {
        const { metres, radians, vertical } = this.units;
        const at = this.wasm.measure_area(metres, radians, vertical);
        this.check(at === 0);
        const [area, surface, around] = new Float64Array(this.wasm.memory.buffer, at, 3);
        return { area, surface, around };
    }

    // Returns whether corners need heights: then all points come by lookAt() before the first addToVolume(), and drape() between.
    startVolume(base = 'plane', level = 0) {
        const { metres, radians, vertical } = this.units;
        const status = this.wasm.measure_volume_start(BASES.indexOf(base), level, metres, radians, vertical);
        this.check(status > 0);
        return status < 0;
    }

    lookAt(steps, isHidden) {
        this.wasm.measure_volume_look(this.give(steps, isHidden));
    }

    // Gives corners without a height that of the nearest point: how many.
    drape() {
        return this.wasm.measure_drape();
    }

    startProfile(width) {
        this.check(this.wasm.measure_profile_start(width, this.units.metres, this.units.radians));
        return this.wasm.measure_profile_length();
    }

    // How the steps of a cloud become coordinates.
    setSteps({ scale, offset }) {
        this.axes.forEach((axis, i) => this.wasm.measure_axis(i, this.signs[i] * scale[axis], this.signs[i] * offset[axis]));
    }

    // steps: Int32Array [x, y, z, x, …]; isHidden(i), or null where all points count.
    give(steps, isHidden) {
        const count = steps.length / 3;
        const at = this.wasm.measure_points(count);
        this.check(at === 0 && count > 0);
        const to = new Int32Array(this.wasm.memory.buffer, at, 3 * count);
        if (this.axes.every((axis, i) => axis === i)) to.set(steps);
        else for (let i = 0; i < count; i++) for (let k = 0; k < 3; k++) to[3 * i + k] = steps[3 * i + this.axes[k]];
        const hidden = new Uint8Array(this.wasm.memory.buffer, this.wasm.measure_hidden(), count).fill(0);
        if (isHidden) for (let i = 0; i < count; i++) hidden[i] = isHidden(i) ? 1 : 0;
        return count;
    }

    addToVolume(steps, isHidden) {
        this.check(this.wasm.measure_volume_add(this.give(steps, isHidden)));
    }

    // The volume of the points so far.
    volume() {
        const at = this.wasm.measure_volume_figures();
        this.check(at === 0);
        const [above, below, area, points, empty, cell, level] = new Float64Array(this.wasm.memory.buffer, at, 7);
        return { above, below, area, points, empty, cell, level };
    }

    // Which of the points are beside the line: { indices, along, aside }.
    addToProfile(steps, isHidden) {
        const found = this.wasm.measure_profile_add(this.give(steps, isHidden));
        this.check(found < 0);
        const { buffer } = this.wasm.memory;
        const places = new Float64Array(buffer, this.wasm.measure_profile_places(), 2 * found);
        return {
            indices: Uint32Array.from(new Uint32Array(buffer, this.wasm.measure_profile_found(), found)),
            along: Float64Array.from({ length: found }, (_, i) => places[2 * i]),
            aside: Float64Array.from({ length: found }, (_, i) => places[2 * i + 1]),
        };
    }
}
