// What lies over the picture: lines, corners and figures of marks, and the edges and handles of clip boxes. SVG, drawn anew
// with each frame; corners and handles are dragged.
import { ClipBox } from '../view/clip_box.js';
import { cssColour, labelColour } from '../view/palettes.js';
import { figuresOf, figureText } from '../measure/figures.js';
import { circle, overPlane } from '../measure/geometry.js';
import { frameOf, upAxis } from '../view/up_axis.js';
import { t } from '../texts/texts.js';
import { placeLabels } from './labels.js';
import { svg, widthOf } from './svg.js';
import { toolName } from './tools.js';
import { table } from '../data/table.js';

const MAX_FIGURES = 20000; // that are kept
const MIN_SIZE = 1e-4; // of a clip box, of the size of the scene
const HEADLINE = table({ circle: ['radius'], over: ['over plane'], distance: ['length', 'level'], height: ['height'], angle: ['angle'], area: ['area', 'seen from above'], volume: ['above'], profile: ['length'] });
const CLOSED = new Set(['area', 'volume']);
const CORNER = 5; // pixels around a corner that labels leave free
const CIRCLE_PARTS = 72;
const MAX_SEGMENT_LABELS = 40;
const MAX_LABEL = 60; // characters
const OVER_LABELS = ':is(#toolbar,#tools)>button,#panel-toggle,#cube,#draft,#profile,#legend,#status'; // of the page, where labels would not be read
const MAX_WHOLE = 300; // marks in the picture with corners, labels and handles; of more, lines and dots alone

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

// The points of a draft and the one under the cursor, where that is another.
export const withHover = ({ points, hover }) => (hover && hover.some((c, i) => c !== points.at(-1)?.[i]) ? [...points, hover] : points);

const middleOf = (points) => points[0].map((_, i) => points.reduce((sum, p) => sum + p[i], 0) / points.length);

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

    // Before the next picture of the screen, without a new one of the points.
    later() {
        this.due ??= requestAnimationFrame(() => {
            this.due = null;
            this.draw();
        });
    }

    // Volumes come as points are read; all other figures change with the mark alone.
    figuresOf(mark) {
        const { viewer } = this;
        if (mark.kind === 'volume') return figuresOf(viewer, mark);
        const key = JSON.stringify([mark.kind, mark.points, mark.holes, mark.flat, mark.size, mark.width, viewer.settings.up, viewer.settings.coordinates, Boolean(viewer.survey.measurer)]);
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
        [this.labels, this.taken] = [[], []];
        const { whole, many } = this.divided();
        if (many.length > 0) parts.push(this.drawMany(many));
        for (const mark of whole) {
            if (mark.kind === 'clip') this.drawBox(parts, mark);
            else if (mark.kind === 'plane') this.drawPlane(parts, mark);
            else this.drawMark(parts, mark);
        }
        if (draft) this.drawDraft(parts, draft);
        parts.push(...this.placed());
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

    // With the point that a click would take: lines go on to it, and a dot is on it.
    drawDraft(parts, draft) {
        const points = withHover(draft);
        if (draft.points.length > 0) this.drawMark(parts, { ...draft, points }, draft.points.length);
        const at = draft.hover && this.viewer.onScreen(this.viewer.toLocal(draft.hover));
        if (at) parts.push(svg('circle', { cx: at[0], cy: at[1], r: 5, class: 'snap' }));
    }

    // The lines of a mark: [[from, to, whether it moves with the cursor]]. fixed: how many points do not.
    edgesOf(mark, points, fixed) {
        const moves = fixed < points.length;
        if (mark.kind === 'height') return this.plumb(points).map((edge) => [...edge, moves]);
        if (mark.kind === 'circle' && points.length === 3) return this.round(points).map((edge) => [...edge, moves]);
        if (mark.kind === 'over' && points.length === 4) {
            const { foot } = overPlane(points, frameOf(this.viewer.settings.up)) ?? {};
            return [[points[0], points[1]], [points[1], points[2]], [points[2], points[0]], ...(foot ? [[foot, points[3], moves]] : [])];
        }
        const edges = points.slice(1).map((p, i) => [points[i], p, i + 1 >= fixed]);
        if (points.length > 2 && (CLOSED.has(mark.kind) || mark.kind === 'over')) edges.push([points.at(-1), points[0], moves]);
        for (const ring of mark.holes ?? []) {
            const corners = ring.map((p) => this.viewer.toLocal(p));
            corners.forEach((p, i) => edges.push([p, corners[(i + 1) % corners.length]]));
        }
        return edges;
    }

    // The circle through three points, and its radius to the first.
    round(points) {
        const found = circle(points);
        if (!found) return points.slice(1).map((p, i) => [points[i], p]);
        const { radius, centre, axes } = found;
        const at = (k) => {
            const angle = (2 * Math.PI * k) / CIRCLE_PARTS;
            return centre.map((c, i) => c + radius * (Math.cos(angle) * axes[0][i] + Math.sin(angle) * axes[1][i]));
        };
        return [...Array.from({ length: CIRCLE_PARTS }, (_, k) => [at(k), at(k + 1)]), [centre, points[0]]];
    }

    // The circle of a mark as points of the data set.
    circleOf(mark) {
        return this.round(this.localOf(mark)).slice(0, CIRCLE_PARTS).map(([at]) => this.viewer.toWorld(at));
    }

    // fixed: of a draft, how many of its points were taken; else null.
    drawMark(parts, mark, fixed = null) {
        const isDraft = fixed !== null;
        const points = isDraft ? mark.points.map((p) => this.viewer.toLocal(p)) : this.localOf(mark);
        const edges = this.edgesOf(mark, points, fixed ?? points.length);
        for (const [a, b] of edges) this.line(parts, a, b, 'under');
        for (const [a, b, moves] of edges) this.line(parts, a, b, `mark ${mark.kind}${moves ? ' band' : ''}`);
        points.slice(0, fixed ?? points.length).forEach((p, i) => {
            const at = this.viewer.onScreen(p);
            if (!at) return;
            parts.push(this.corner(at, mark, i, isDraft));
            this.taken.push([at[0] - CORNER, at[1] - CORNER, at[0] + CORNER, at[1] + CORNER]);
        });
        this.labelMark(mark, points, isDraft);
    }

    // Its boundary in the colour that its points have by plane; a click on its number tells its equation.
    drawPlane(parts, mark) {
        const points = mark.points.map((p) => this.viewer.toLocal(p));
        const colour = cssColour(labelColour(mark.number));
        points.forEach((p, i) => {
            this.line(parts, p, points[(i + 1) % points.length], 'mark plane');
            if (parts.at(-1)?.classList.contains('plane')) parts.at(-1).style.stroke = colour;
        });
        this.label(middleOf(points), mark.text || `${t('kind.plane')} ${mark.number}`, { plane: mark, colour });
    }

    // A plumb line: from the lower point level to under the upper one, and up to it.
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
        if (!hit) return;
        this.marks.alter(mark.id, (m) => {
            m.points[index] = hit.node.cloud.toSource(hit.point);
            if (m.flat) m.flat = m.flat.filter((i) => i !== index); // it has the height of a point now
            if (m.flat?.length === 0) delete m.flat;
        }, false);
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

    // ---- labels
    label(point, text, more = {}) {
        const at = text && this.viewer.onScreen(point);
        const { clientWidth, clientHeight } = this.viewer.canvas;
        if (at && at[0] > 0 && at[1] > 0 && at[0] < clientWidth && at[1] < clientHeight) this.labels.push({ at, text: text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL - 1)}…` : text, ...more });
    }

    // The boxes of what lies over the picture.
    covered() {
        const { left, top } = this.layer.getBoundingClientRect();
        const boxes = [...document.querySelectorAll(OVER_LABELS)].map((e) => e.getBoundingClientRect());
        return boxes.filter(({ width }) => width > 0).map((box) => [box.left - left, box.top - top, box.right - left, box.bottom - top]);
    }

    // The elements of all labels, of which the newest ones have the first choice; one that finds no room is left out.
    placed() {
        const list = this.labels.reverse().map((label) => ({ ...label, width: widthOf(label.text) }));
        const { clientWidth, clientHeight } = this.viewer.canvas;
        const places = list.length === 0 ? [] : placeLabels(list, [...this.taken, ...this.covered()], [0, 0, clientWidth, clientHeight]);
        return list.flatMap(({ text, plane, colour }, i) => {
            if (!places[i]) return [];
            const label = svg('text', { x: places[i][0], y: places[i][1], class: plane ? 'label plane' : 'label' });
            label.textContent = text;
            if (plane) {
                label.style.fill = colour;
                label.addEventListener('click', () => this.told?.(plane));
            }
            return [label];
        });
    }

    // A figure as text, with what it is where that is not plain.
    text(name, value) {
        return figureText(name, value, this.viewer.space, this.viewer.settings);
    }

    labelText(mark, isDraft) {
        if (mark.kind === 'note') return mark.text || toolName('note');
        if (mark.kind === 'point') return mark.text;
        if (isDraft && (mark.kind === 'volume' || mark.kind === 'profile')) return '';
        const enough = { distance: 2, height: 2, angle: 3, circle: 3, over: 4, area: 3, volume: 3, profile: 2 }[mark.kind];
        if (mark.points.length < enough) return '';
        const figures = this.figuresOf(mark);
        const [name, figure] = HEADLINE[mark.kind].map((word) => [word, figures[word]]).find(([, v]) => v !== undefined) ?? [];
        const text = figure === undefined ? '–' : this.text(name, figure);
        const estimate = mark.kind === 'volume' && this.viewer.survey.of(mark).state !== 'done' ? '≈ ' : '';
        const sum = mark.kind === 'distance' && mark.points.length > 2 ? 'Σ ' : '';
        return mark.text ? `${mark.text}: ${estimate}${sum}${text}` : estimate + sum + text;
    }

    labelMark(mark, points, isDraft) {
        if (mark.kind === 'distance' && points.length > 2) this.labelSegments(mark, points, isDraft);
        else if (mark.kind === 'distance' && isDraft && points.length === 2) return this.label(middleOf(points), this.segmentText(this.figuresOf(mark)));
        const text = this.labelText(mark, isDraft);
        if (!text) return undefined;
        const isWhole = CLOSED.has(mark.kind) || mark.kind === 'circle';
        const ends = mark.kind === 'angle' ? [points[1]] : mark.kind === 'over' || (mark.kind === 'distance' && points.length > 2) ? points.slice(-1) : isWhole ? points : points.slice(-2);
        return this.label(middleOf(ends), text);
    }

    labelSegments(mark, points, isDraft) {
        const figures = this.figuresOf(mark);
        const first = Math.max(1, points.length - MAX_SEGMENT_LABELS);
        for (let i = first; i < points.length; i++) {
            const segment = figures[`segment ${i}`];
            if (segment) this.label(middleOf([points[i - 1], points[i]]), isDraft && i === points.length - 1 ? this.segmentText(segment) : this.text('length', segment.length ?? segment.level));
        }
    }

    segmentText({ length, slope, bearing }) {
        return this.text('segment', { length, slope, ...(bearing === undefined ? {} : { bearing }) });
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
                this.handle(parts, face, `face axis-${axis}`, t('box.side'), (x, y) => this.moveFace(mark, axis, sign, x, y));
            }
        }
        this.handle(parts, box.center, 'center', t('box.drag'), (x, y) => this.moveBox(mark, x, y));
        const { a, up } = box;
        const arm = box.center.map((c, i) => c + axes[a][i] * box.half[a] * 1.25 + axes[up][i] * box.half[up]);
        this.handle(parts, arm, 'turn', t('box.turn'), (x, y) => this.turnBox(mark, x, y));
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

    // Moves a box in the plane of the screen through its middle.
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
