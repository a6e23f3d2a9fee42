// What lies over the picture: lines, corners and figures of marks, and the edges and handles of clip boxes. SVG, drawn anew
// with each frame; corners and handles are dragged.
import { ClipBox } from '../view/clip_box.js';
import { upAxis } from '../view/up_axis.js';
import { cssColour, labelColour } from '../view/palettes.js';
import { figuresOf, figureText } from '../measure/figures.js';
import { table } from '../data/table.js';

const MAX_FIGURES = 20000; // that are kept
const MIN_SIZE = 1e-4; // of a clip box, of the size of the scene
const HEADLINE = table({ distance: 'length', height: 'height', angle: 'angle', area: 'area', volume: 'above', profile: 'length' });
const CLOSED = new Set(['area', 'volume']);
const MAX_WHOLE = 300; // marks in the picture with corners, labels and handles; of more, lines and dots alone

function svg(tag, attributes = {}) {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    return e;
}

// How far along the line through p in direction n the point nearest to a ray lies.
function nearestOnLine(p, n, { origin, direction: d }) {
    const w = p.map((c, i) => c - origin[i]);
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const nd = dot(n, d);
    const denominator = 1 - nd * nd;
    return denominator < 1e-9 ? 0 : (nd * dot(d, w) - dot(n, w)) / denominator;
}

// Where a ray meets the level plane of a height, or null.
function onLevel(height, up, { origin, direction }) {
    const t = (height - origin[up]) / direction[up];
    return t > 0 && Number.isFinite(t) ? origin.map((c, i) => c + t * direction[i]) : null;
}

export class Overlay {
    // draft(): the mark that is being made, or null
    constructor(layer, viewer, marks, draft) {
        Object.assign(this, { layer, viewer, marks, draft });
        this.figures = new Map(); // text of a mark -> its figures
        this.locals = new WeakMap(); // mark -> its points as drawn
        viewer.addEventListener('frame', () => this.draw());
        marks.addEventListener('change', () => this.draw());
        viewer.survey.addEventListener('change', () => this.draw());
    }

    // Volumes come as points are read; all other figures change with the mark alone.
    figuresOf(mark) {
        const { viewer } = this;
        if (mark.kind === 'volume') return figuresOf(viewer, mark);
        const key = JSON.stringify([mark.kind, mark.points, mark.size, mark.width, viewer.settings.up, viewer.settings.coordinates, Boolean(viewer.survey.measurer)]);
        if (!this.figures.has(key)) {
            if (this.figures.size > MAX_FIGURES) this.figures.clear();
            this.figures.set(key, figuresOf(viewer, mark));
        }
        return this.figures.get(key);
    }

    // A line as far as it lies before the eye.
    segment(a, b) {
        const { camera } = this.viewer;
        const near = camera.nearest * 1.01;
        const [da, db] = [a, b].map((p) => camera.project(p).depth);
        if (!camera.isOrthographic && da < near && db < near) return null;
        const cut = (p, dp, q, dq) => p.map((c, i) => c + ((near - dp) / (dq - dp)) * (q[i] - c));
        const [from, to] = camera.isOrthographic ? [a, b] : [da < near ? cut(a, da, b, db) : a, db < near ? cut(b, db, a, da) : b];
        const [p, q] = [this.viewer.onScreen(from), this.viewer.onScreen(to)];
        return p && q ? [p, q] : null;
    }

    line(parts, a, b, className) {
        const s = this.segment(a, b);
        if (s) parts.push(svg('line', { x1: s[0][0], y1: s[0][1], x2: s[1][0], y2: s[1][1], class: className }));
    }

    draw() {
        if (!this.viewer.dataset?.meta) return;
        const { layer, viewer } = this;
        const draft = this.draft();
        const parts = [];
        const { whole, many } = this.divided();
        if (many.length > 0) parts.push(this.drawMany(many));
        for (const mark of whole) {
            if (mark.kind === 'clip') this.drawBox(parts, mark);
            else if (mark.kind === 'plane') this.drawPlane(parts, mark);
            else this.drawMark(parts, mark, false);
        }
        if (draft?.points.length > 0) this.drawMark(parts, draft, true);
        layer.setAttribute('viewBox', `0 0 ${viewer.canvas.clientWidth} ${viewer.canvas.clientHeight}`);
        // What is being dragged stays in the document: it holds the pointer.
        if (this.dragged) {
            layer.querySelectorAll(':scope > :not(.dragged)').forEach((e) => e.remove());
            layer.append(...parts);
        } else {
            layer.replaceChildren(...parts);
        }
    }

    // A mark's points as drawn, found once: marks are not changed in place.
    localOf(mark) {
        if (!this.locals.has(mark)) this.locals.set(mark, mark.points.map((p) => this.viewer.toLocal(p)));
        return this.locals.get(mark);
    }

    // Of very many marks the newest in the picture are drawn as a whole.
    divided() {
        const { list } = this.marks;
        if (list.length <= MAX_WHOLE) return { whole: list, many: [] };
        const whole = new Set();
        for (let i = list.length - 1; i >= 0 && whole.size < MAX_WHOLE; i--) if (list[i].kind === 'clip' || this.isInSight(list[i])) whole.add(list[i]);
        return { whole: list.filter((mark) => whole.has(mark)), many: list.filter((mark) => !whole.has(mark) && mark.points) };
    }

    isInSight(mark) {
        const { clientWidth, clientHeight } = this.viewer.canvas;
        return this.localOf(mark).some((p) => {
            const at = this.viewer.onScreen(p);
            return at && at[0] >= 0 && at[1] >= 0 && at[0] <= clientWidth && at[1] <= clientHeight;
        });
    }

    // Thousands of marks as one path: their lines, and a dot for each that is a point.
    drawMany(marks) {
        const text = (v) => v.toFixed(1);
        const d = marks.map((mark) => {
            const points = this.localOf(mark);
            if (points.length === 1) {
                const at = this.viewer.onScreen(points[0]);
                return at ? `M${text(at[0])} ${text(at[1])}h0` : '';
            }
            const ends = CLOSED.has(mark.kind) ? [...points.slice(1), points[0]] : points.slice(1);
            return ends.map((p, i) => this.segment(points[i], p)).filter(Boolean).map(([a, b]) => `M${a.map(text)}L${b.map(text)}`).join('');
        }).join('');
        return svg('path', { d, class: 'many' });
    }

    drawMark(parts, mark, isDraft) {
        const points = isDraft ? mark.points.map((p) => this.viewer.toLocal(p)) : this.localOf(mark);
        const edges = points.slice(1).map((p, i) => [points[i], p]);
        if (mark.kind === 'height') edges.splice(0, edges.length, ...this.plumb(points));
        else if (CLOSED.has(mark.kind) && points.length > 2) edges.push([points.at(-1), points[0]]);
        for (const ring of mark.holes ?? []) {
            const corners = ring.map((p) => this.viewer.toLocal(p));
            corners.forEach((p, i) => edges.push([p, corners[(i + 1) % corners.length]]));
        }
        for (const [a, b] of edges) this.line(parts, a, b, 'under');
        for (const [a, b] of edges) this.line(parts, a, b, `mark ${mark.kind}`);
        points.forEach((p, i) => {
            const at = this.viewer.onScreen(p);
            if (at) parts.push(this.corner(at, mark, i, isDraft));
        });
        this.drawLabel(parts, mark, points, isDraft);
    }

    // Its boundary in the colour that its points have by plane; a click on its number tells its equation.
    drawPlane(parts, mark) {
        const points = mark.points.map((p) => this.viewer.toLocal(p));
        const colour = cssColour(labelColour(mark.number));
        points.forEach((p, i) => {
            this.line(parts, p, points[(i + 1) % points.length], 'mark plane');
            if (parts.at(-1)?.classList.contains('plane')) parts.at(-1).style.stroke = colour;
        });
        const middle = points[0].map((_, i) => points.reduce((sum, p) => sum + p[i], 0) / points.length);
        const at = this.viewer.onScreen(middle);
        if (!at) return;
        const label = svg('text', { x: at[0], y: at[1], class: 'label plane' });
        label.textContent = mark.text || `Plane ${mark.number}`;
        label.style.fill = colour;
        label.addEventListener('click', () => this.told?.(mark));
        parts.push(label);
    }

    // From the lower point level to under the upper one, and up to it.
    plumb([a, b]) {
        if (!b) return [];
        const { axis } = upAxis(this.viewer.settings.up);
        const foot = [...b];
        foot[axis] = a[axis];
        return [[a, foot], [foot, b]];
    }

    corner([x, y], mark, index, isDraft) {
        const circle = svg('circle', { cx: x, cy: y, r: mark.kind === 'note' ? 6 : 4.5, class: `corner ${mark.kind}` });
        if (!isDraft) this.drag(circle, (px, py) => this.moveCorner(mark, index, px, py));
        return circle;
    }

    moveCorner(mark, index, x, y) {
        const hit = this.viewer.pickAt(x, y);
        if (hit) this.marks.alter(mark.id, (m) => (m.points[index] = hit.node.cloud.toSource(hit.point)), false);
    }

    // move(x, y): in pixels of the picture. The list is remembered once, when the drag begins.
    drag(element, move) {
        element.addEventListener('pointerdown', (event) => {
            if (event.button !== 0) return;
            event.preventDefault();
            event.stopPropagation();
            element.setPointerCapture(event.pointerId);
            element.classList.add('dragged');
            this.dragged = true;
            this.marks.remember();
            const box = this.layer.getBoundingClientRect();
            element.addEventListener('pointermove', (e) => move(e.clientX - box.left, e.clientY - box.top));
            const end = () => {
                element.classList.remove('dragged');
                this.dragged = false;
                this.draw();
            };
            element.addEventListener('pointerup', end, { once: true });
            element.addEventListener('pointercancel', end, { once: true });
        });
    }

    labelText(mark, isDraft) {
        if (mark.kind === 'note') return mark.text || 'Note';
        if (mark.kind === 'point') return mark.text;
        if (isDraft && (mark.kind === 'volume' || mark.kind === 'profile')) return '';
        const name = HEADLINE[mark.kind];
        const enough = { distance: 2, height: 2, angle: 3, area: 3, volume: 3, profile: 2 }[mark.kind];
        if (mark.points.length < enough) return '';
        const figure = this.figuresOf(mark)[name];
        const text = figure === undefined ? '–' : figureText(name, figure, this.viewer.dataset.meta, this.viewer.settings);
        const estimate = mark.kind === 'volume' && this.viewer.survey.of(mark).state !== 'done' ? '≈ ' : '';
        return mark.text ? `${mark.text}: ${estimate}${text}` : estimate + text;
    }

    drawLabel(parts, mark, points, isDraft) {
        const text = this.labelText(mark, isDraft);
        if (!text) return;
        const inner = CLOSED.has(mark.kind) || mark.kind === 'angle' ? points : points.slice(-2);
        const place = mark.kind === 'angle' ? points[1] : inner[0].map((_, i) => inner.reduce((sum, p) => sum + p[i], 0) / inner.length);
        const at = this.viewer.onScreen(place);
        if (!at) return;
        const label = svg('text', { x: at[0] + (points.length === 1 ? 11 : 8), y: at[1] + (points.length === 1 ? 4 : -8), class: 'label' });
        label.textContent = text.length > 60 ? `${text.slice(0, 59)}…` : text;
        parts.push(label);
    }

    // ---- clip boxes
    boxOf(mark) {
        return clipBoxOf(this.viewer, mark);
    }

    drawBox(parts, mark) {
        const box = this.boxOf(mark);
        const corners = box.corners();
        for (let i = 0; i < 8; i++) for (const bit of [1, 2, 4]) if (!(i & bit)) this.line(parts, corners[i], corners[i | bit], 'box');
        const axes = box.axes();
        for (let axis = 0; axis < 3; axis++) {
            for (const sign of [-1, 1]) {
                const face = box.center.map((c, i) => c + sign * box.half[axis] * axes[axis][i]);
                this.handle(parts, face, `face axis-${axis}`, 'Drag this side of the box', (x, y) => this.moveFace(mark, axis, sign, x, y));
            }
        }
        this.handle(parts, box.center, 'center', 'Drag the box', (x, y) => this.moveBox(mark, x, y));
        const { a, up } = box;
        const arm = box.center.map((c, i) => c + axes[a][i] * box.half[a] * 1.25 + axes[up][i] * box.half[up]);
        this.handle(parts, arm, 'turn', 'Turn the box', (x, y) => this.turnBox(mark, x, y));
    }

    handle(parts, point, className, title, move) {
        const at = this.viewer.onScreen(point);
        if (!at) return;
        const circle = svg('circle', { cx: at[0], cy: at[1], r: 6.5, class: `handle-3d ${className}` });
        const name = svg('title');
        name.textContent = title;
        circle.append(name);
        this.drag(circle, move);
        parts.push(circle);
    }

    // The opposite side stays where it is.
    moveFace(mark, axis, sign, x, y) {
        const box = this.boxOf(mark);
        const n = box.axes()[axis];
        const along = nearestOnLine(box.center, n, this.viewer.rayAt(x, y)) * sign;
        const size = Math.max(this.viewer.camera.sceneSize * MIN_SIZE, along + box.half[axis]);
        const shift = (sign * (size - 2 * box.half[axis])) / 2;
        this.alterBox(mark, (m) => {
            m.size[axis] = size;
            m.center = this.viewer.toWorld(box.center.map((c, i) => c + shift * n[i]));
        });
    }

    // In the plane of the screen through the middle of the box.
    moveBox(mark, x, y) {
        const { viewer } = this;
        const { origin, direction } = viewer.rayAt(x, y);
        const { forward } = viewer.camera.axes();
        const { center } = this.boxOf(mark);
        const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        const t = dot(center.map((c, i) => c - origin[i]), forward) / dot(direction, forward);
        this.alterBox(mark, (m) => (m.center = viewer.toWorld(origin.map((c, i) => c + t * direction[i]))));
    }

    turnBox(mark, x, y) {
        const box = this.boxOf(mark);
        const at = onLevel(box.center[box.up] + box.half[box.up], box.up, this.viewer.rayAt(x, y));
        if (at) this.alterBox(mark, (m) => (m.yaw = Math.atan2(at[box.b] - box.center[box.b], at[box.a] - box.center[box.a])));
    }

    alterBox(mark, change) {
        this.marks.alter(mark.id, change, false);
    }
}

export const clipBoxOf = (viewer, mark) =>
    new ClipBox({ ...mark, center: viewer.toLocal(mark.center) }, upAxis(viewer.settings.up).axis);
