// What the tools, marks and figures of the page ask of a viewer, of live pictures: the same code measures in both. Coordinates
// are drawn as they are. Points are found by the server, so that they are those of the cloud: pickAt() tells a point that the
// server has told, and asks it for the next one.
import { parseCrs, withUnits } from '../data/crs.js';

const NEAR_PIXELS = 4; // of a place that was asked about: what is there is still the same point
const LOST_MS = 1000; // after which a question that was not answered is asked again: a later one took its place
const STEP_SHARE = 1e-7; // of the size, in which coordinates of floats count

// The cloud's message as the metadata of a data set.
export function metaOf({ name, min, max, steps, crs, units, points }) {
    const size = Math.hypot(...max.map((m, i) => m - min[i])) || 1;
    const step = 10 ** Math.floor(Math.log10(size * STEP_SHARE));
    const system = withUnits(parseCrs(crs), units);
    return {
        name, points, projection: crs, crs: system, isLonLat: false, origin: [0, 0, 0], stretch: [1, 1, 1], offset: [0, 0, 0], scale: steps.map((s) => s || step),
        box: { min, max }, channels: [], rest: null,
    };
}

// Angles are no lengths: nothing is measured in them.
export const isMeasurable = (meta) => meta.crs?.kind !== 'geographic';

export const measurable = (Base) => class extends Base {
    tool = null; // what clicks are for
    known = null; // { x, y, hit } of the last point that the server told
    lookedAt = -Infinity; // when it was asked for the point under the cursor, until it answers
    isClicking = false; // a click waits for its point: nothing else is asked

    get dataset() {
        return this.scene?.min ? { root: this.scene, meta: (this.scene.meta ??= metaOf(this.scene)) } : null;
    }

    get space() {
        return this.dataset?.meta ?? null;
    }

    get box() {
        return { min: this.scene.min, max: this.scene.max };
    }

    get isMoving() {
        return !this.picture?.isStill;
    }

    toLocal(point) {
        return point;
    }

    toWorld(point) {
        return point;
    }

    onScreen(point) {
        return this.camera.onScreen(point, this.canvas.clientWidth, this.canvas.clientHeight);
    }

    rayAt(x, y) {
        return this.camera.rayAt(x, y, this.canvas.clientWidth, this.canvas.clientHeight);
    }

    setClipBoxes() {} // points are hidden nowhere

    // None are here.
    drawnPoints() {
        return [];
    }

    get shownClouds() {
        return [];
    }

    // What lies over the picture is drawn anew; the picture is not.
    invalidate() {
        if (this.isOverlayDue) return;
        this.isOverlayDue = true;
        requestAnimationFrame(() => {
            this.isOverlayDue = false;
            this.emit('frame');
        });
    }

    pickAt(x, y) {
        if (this.known && Math.hypot(this.known.x - x, this.known.y - y) <= NEAR_PIXELS) return this.known.hit;
        if (this.isClicking || performance.now() - this.lookedAt < LOST_MS) return null;
        this.lookedAt = performance.now();
        this.find(x, y).then(() => {
            this.lookedAt = -Infinity;
            this.invalidate();
        });
        return null;
    }

    // The point at a place of the picture, or null.
    async find(x, y) {
        const told = await this.ask(x, y);
        const own = { toSource: (point) => point, dataset: this.dataset };
        this.known = { x, y, hit: told.place ? { point: told.place, distance: told.depth, index: told.row, node: { cloud: own }, told } : null };
        return this.known.hit;
    }

    // A click while a tool is chosen. The tool hears of it once its point is known.
    click(x, y) {
        if (!this.tool) return false;
        this.isClicking = true;
        this.find(x, y).then(() => {
            this.isClicking = false;
            this.lookedAt = -Infinity;
            this.tool?.click(x, y);
        });
        return true;
    }
};
