// What of the clouds is in sight: a view that shows them, why nothing is seen, and the points that are drawn.
import { seesAny, seesDots, shownBox } from './pick.js';

const ROUNDED = 1e-3;
const APART = 50; // clouds that lie in a box so many times as large as the largest of them are not seen together
const LOOK_MS = 300; // after the last frame: is anything in the picture?
const DOT_PIXELS = 6; // what is no larger is a dot

export const hiddenIn = (node) => node.cloud.filter.hiddenIn(node);

// The smallest box around boxes.
export function around(boxes) {
    return boxes.length === 0 ? null : { min: [0, 1, 2].map((i) => Math.min(...boxes.map((b) => b.min[i]))), max: [0, 1, 2].map((i) => Math.max(...boxes.map((b) => b.max[i]))) };
}

export class Sight {
    constructor(viewer) {
        this.viewer = viewer;
        this.timer = null;
        this.seesNothing = null; // or why
        this.fitted = null; // the camera as fit() left it at one of several clouds
    }

    // Is called after each frame, and looks once frames have ended.
    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.look(), LOOK_MS);
    }

    // Shows the whole cloud, except a few points that lie far from it; where classes are hidden, what is known of the others.
    // Of clouds so far apart that each would be a dot, one; goesOn: and after that, for who asks again, the next one.
    fit(goesOn = false) {
        const { viewer } = this;
        const far = this.farApart();
        if (far && goesOn && this.isFitted) viewer.activate(far[(far.indexOf(viewer.active) + 1) % far.length]);
        const clouds = !far ? viewer.shownClouds : far.includes(viewer.active) ? [viewer.active] : [far[0]];
        const isFiltered = clouds.some(({ filter }) => filter.isActive);
        const loaded = isFiltered ? clouds.flatMap(({ loader }) => [...loader.cache.entries.keys()]) : [];
        const boxes = (clouds.length > 0 ? clouds : viewer.clouds).map(({ rest, box }) => rest ?? box);
        viewer.camera.fit(shownBox(loaded, hiddenIn) ?? around(boxes));
        this.fitted = far ? viewer.camera.get() : null;
        if (far) viewer.emit('apart', { shown: clouds[0], others: far.filter((cloud) => cloud !== clouds[0]) });
        viewer.invalidate();
    }

    // Whether the camera is still where fit() left it, but for what an address rounds.
    get isFitted() {
        const { viewer } = this;
        const { target, distance } = viewer.camera.get();
        return this.fitted !== null && Math.hypot(...target.map((t, i) => t - this.fitted.target[i])) < ROUNDED * distance && Math.abs(distance - this.fitted.distance) < ROUNDED * distance;
    }

    // How far one cloud lies from another, as drawn.
    gapBetween(a, b) {
        const [p, q] = [a, b].map(({ rest, box }) => rest ?? box);
        return Math.hypot(...p.min.map((m, i) => Math.max(0, q.min[i] - p.max[i], m - q.max[i])));
    }

    // The clouds that are shown, where they are too far apart to be seen together; else null.
    farApart() {
        const { viewer } = this;
        const clouds = viewer.shownClouds;
        if (clouds.length < 2) return null;
        const sizeOf = ({ min, max }) => Math.hypot(...max.map((m, i) => m - min[i]));
        const boxes = clouds.map(({ rest, box }) => rest ?? box);
        return sizeOf(around(boxes)) > APART * Math.max(...boxes.map(sizeOf)) ? clouds : null;
    }

    // Says when nothing is in the picture any more, and when something is again.
    look() {
        const { viewer } = this;
        const nothing = viewer.busy ? null : this.whyNothing();
        if (nothing || this.seesNothing) viewer.emit('seesnothing', nothing); // again, as the reasons may be others
        this.seesNothing = nothing;
    }

    // Why nothing is to be seen: 'hidden', what is in the picture; 'away', from it; 'dot', too small. null: something is seen.
    whyNothing() {
        const { viewer } = this;
        const { draw } = viewer.selection;
        const planes = viewer.camera.planes();
        if (!seesAny(draw, planes, hiddenIn)) return seesAny(draw, planes) ? 'hidden' : 'away';
        return seesDots(draw, planes, (point) => viewer.onScreen(point), DOT_PIXELS, hiddenIn) ? 'dot' : null;
    }

    // Coordinates [x, y, z, x, …] of all points drawn that are not hidden, of nodes that reach into a box, and where they are
    // from: visit(node, index).
    drawnPoints({ min, max }, visit = null) {
        const { viewer } = this;
        const out = [];
        for (const node of viewer.selection?.draw ?? []) {
            const { box } = node.payload;
            if ([0, 1, 2].some((i) => box.min[i] + node.min[i] > max[i] || box.max[i] + node.min[i] < min[i])) continue;
            const isHidden = hiddenIn(node);
            const { position } = node.payload;
            for (let i = 0; i < position.length / 3; i++) {
                if (isHidden?.(i)) continue;
                for (let k = 0; k < 3; k++) out.push(position[3 * i + k] + node.min[k]);
                visit?.(node, i);
            }
        }
        return out;
    }

    // The drawn point at a place of the file's coordinates: { node, index, point }, or null.
    pointAt(world) {
        const { viewer } = this;
        const place = viewer.toLocal(world);
        const { scale, stretch } = viewer.dataset.meta;
        const reach = scale.map((s, i) => 0.6 * s * stretch[i] + 1e-6 * Math.abs(place[i]));
        let found = null;
        this.drawnPoints({ min: place.map((c, i) => c - reach[i]), max: place.map((c, i) => c + reach[i]) }, (node, index) => {
            if (found) return;
            const point = [0, 1, 2].map((k) => node.payload.position[3 * index + k] + node.min[k]);
            if (point.every((c, k) => Math.abs(c - place[k]) <= reach[k])) found = { node, index, point };
        });
        return found;
    }
}
