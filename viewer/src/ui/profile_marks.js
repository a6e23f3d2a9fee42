// Measuring in the plot of a profile: a dot snaps to its points, a click gives one to the tool that is chosen, and marks that lie in
// the strip are drawn over the plot.
import { placeOf } from '../measure/profile.js';
import { upAxis } from '../view/up_axis.js';
import { t } from '../texts/texts.js';
import { placeLabels } from './labels.js';
import { withHover } from './overlay.js';
import { svg, widthOf } from './svg.js';

const SNAP_PIXELS = 12;
const KEY_PIXELS = 8; // that an arrow moves the cursor
const KEY_REACH = 60; // to the next point from there
const NOT_HERE = new Set(['profile', 'area', 'volume']); // made of what is seen from above
const SHOWN = new Set(['point', 'distance', 'height', 'over', 'angle', 'circle', 'note']);

// Where a place lies along a path, and how far beside it. path: places on the level; returns { along, aside }.
function alongPath([x, y], path) {
    let [before, best] = [0, { along: 0, aside: Infinity }];
    for (let i = 1; i < path.length; i++) {
        const [from, to] = [path[i - 1], path[i]];
        const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        const length = Math.hypot(dx, dy) || 1;
        const reached = Math.max(0, Math.min(length, ((x - from[0]) * dx + (y - from[1]) * dy) / length));
        const aside = Math.hypot(x - from[0] - (reached * dx) / length, y - from[1] - (reached * dy) / length);
        if (aside < best.aside) best = { along: before + reached, aside };
        before += length;
    }
    return best;
}

export class ProfileMarks {
    // plot: a ProfilePlot; overlay: has the texts of marks
    constructor(plot, viewer, marks, tools, overlay) {
        Object.assign(this, { plot, viewer, marks, tools, overlay });
        this.canvas = document.getElementById('profile-canvas');
        this.layer = document.getElementById('profile-marks');
        this.cursor = null; // of the keyboard, in pixels
        this.snapped = -1; // a row of the plot
        this.canvas.addEventListener('pointermove', (e) => this.snap(this.local(e), SNAP_PIXELS));
        this.canvas.addEventListener('pointerleave', () => this.leave());
        this.canvas.addEventListener('blur', () => this.leave());
        this.canvas.addEventListener('click', (e) => {
            this.snap(this.local(e), SNAP_PIXELS);
            this.take();
        });
        this.canvas.addEventListener('contextmenu', (e) => {
            e.preventDefault();
            tools.end();
        });
        this.canvas.addEventListener('keydown', (e) => this.key(e));
        marks.addEventListener('change', () => this.draw());
    }

    local(event) {
        const box = this.canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    }

    snap([x, y], reach) {
        const { scale, rows } = this.plot;
        if (!scale) return;
        let [best, least] = [-1, reach];
        for (let i = 0; i < rows.count; i++) {
            const d = Math.hypot(scale.x(rows.along[i]) - x, scale.y(rows.heights[i]) - y);
            if (d < least) [least, best] = [d, i];
        }
        this.snapped = best;
        this.plot.tell(best);
        this.give();
    }

    leave() {
        this.snapped = -1;
        this.give();
    }

    // The tools show the point in the picture, too.
    give() {
        this.tools.given = this.snapped < 0 ? null : this.placeOf(this.snapped);
        this.tools.redraw();
        this.draw();
    }

    placeOf(row) {
        let i = row;
        for (const part of this.plot.rows.parts) {
            if (i < part.indices.length) return placeOf(part, i);
            i -= part.indices.length;
        }
        return null;
    }

    take() {
        if (this.snapped < 0) return;
        const point = this.placeOf(this.snapped);
        if (!this.tools.kind || NOT_HERE.has(this.tools.kind)) this.tools.choose('distance');
        this.tools.take(point);
        this.draw();
    }

    // Arrows move from point to point; space takes one.
    key(event) {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (!step && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        if (!step) return this.take();
        const { clientWidth, clientHeight } = this.canvas;
        const { scale, rows } = this.plot;
        const from = this.snapped >= 0 ? [scale.x(rows.along[this.snapped]), scale.y(rows.heights[this.snapped])] : this.cursor ?? [clientWidth / 2, clientHeight / 2];
        this.cursor = from.map((c, i) => c + step[i] * KEY_PIXELS);
        this.snap(this.cursor, KEY_REACH);
    }

    // Where a point of the data set is in the plot; null where it is not in the strip.
    onPlot(point, path, reach) {
        const { axis, sign } = upAxis(this.viewer.settings.up);
        const level = (p) => [0, 1, 2].filter((i) => i !== axis).map((i) => p[i]);
        const { along, aside } = alongPath(level(this.viewer.toLocal(point)), path.map(level));
        return aside <= reach ? [this.plot.scale.x(along), this.plot.scale.y(sign * point[axis])] : null;
    }

    draw() {
        const { plot, layer } = this;
        if (!plot.mark || !plot.scale) return layer.replaceChildren();
        const path = plot.mark.points.map((p) => this.viewer.toLocal(p));
        const reach = (plot.mark.width / 2) * (1 + 1e-6);
        const draft = this.tools.draft();
        const shown = this.marks.list.filter(({ kind }) => SHOWN.has(kind));
        if (draft?.points.length > 0 && SHOWN.has(draft.kind)) shown.push({ ...draft, points: withHover(draft) });
        const [parts, labels] = [[], []];
        for (const mark of shown) {
            const at = mark.points.map((p) => this.onPlot(p, path, reach));
            if (at.some((p) => p === null)) continue;
            for (let i = 1; i < at.length; i++) for (const name of ['under', `mark ${mark.kind}`]) parts.push(svg('line', { x1: at[i - 1][0], y1: at[i - 1][1], x2: at[i][0], y2: at[i][1], class: name }));
            for (const [cx, cy] of at) parts.push(svg('circle', { cx, cy, r: 3.5 }));
            const text = this.overlay.labelText(mark, mark === shown.at(-1) && draft !== null);
            if (text && at.length > 0) labels.push({ at: [(at.at(-1)[0] + at.at(-2 + (at.length < 2))[0]) / 2, (at.at(-1)[1] + at.at(-2 + (at.length < 2))[1]) / 2], text, width: widthOf(text) });
        }
        const places = placeLabels(labels, [], [0, 0, this.canvas.clientWidth, this.canvas.clientHeight]);
        labels.forEach(({ text }, i) => places[i] && parts.push(Object.assign(svg('text', { x: places[i][0], y: places[i][1], class: 'label' }), { textContent: text })));
        if (this.snapped >= 0) parts.push(svg('circle', { cx: plot.scale.x(plot.rows.along[this.snapped]), cy: plot.scale.y(plot.rows.heights[this.snapped]), r: 5, class: 'snap' }));
        layer.replaceChildren(...parts);
    }
}
