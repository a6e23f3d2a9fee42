// The tools: what a click in the picture does while one is chosen. Clicks add points; Enter, a right click, the button or a click
// on the last point ends a path; Escape puts the tool down. By keyboard the picture is moved under its middle, and space takes the
// point there.
import { KINDS } from '../measure/marks.js';
import { cornersOfPlane } from '../measure/geometry.js';
import { t } from '../texts/texts.js';
import { upAxis } from '../view/up_axis.js';
import { DraftBar } from './draft_bar.js';
import { element } from './element.js';
import { shownKey } from './format.js';

const $ = (id) => document.getElementById(id);
const SAME_PIXELS = 6;
const HAS_KEYS = globalThis.matchMedia?.('(pointer: fine)').matches; // where fingers alone are, there is hardly a keyboard

// kind, key, icon (paths of 24 x 24)
export const TOOLS = [
    ['point', 'i', '<circle cx="12" cy="12" r="2.5"/><path d="M12 3v5M12 16v5M3 12h5M16 12h5"/>'],
    ['distance', 'd', '<path d="M4 17 17 4l3 3L7 20zM8 13l2 2M11 10l2 2M14 7l2 2"/>'],
    ['height', 'y', '<path d="M12 4v16M8 8l4-4 4 4M8 16l4 4 4-4M4 4h4M4 20h4"/>'],
    ['over', 'shift+y', '<path d="M3 19l5-5h13l-5 5zM13 14V4M10 7l3-3 3 3"/>'],
    ['angle', 'g', '<path d="M19 19H5L16 5M11 19a7 7 0 0 0-1.800-5"/>'],
    ['circle', 'shift+o', '<circle cx="12" cy="12" r="8"/><path d="M12 12l5.700-5.700M12 12v.1"/>'],
    ['area', 'q', '<path d="M5 8 13 4l7 6-3 9-11 1z"/>'],
    ['volume', 'k', '<path d="M3 18h18M5 18c2-9 4-11 7-11s5 2 7 11"/>'],
    ['profile', 'n', '<path d="M4 4v16h16M7 16l4-6 3 3 5-7"/>'],
    ['note', 'j', '<path d="M5 5h14v10h-8l-4 4v-4H5z"/>'],
    ['clip', 'z', '<path d="M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8"/>'],
];
export const toolName = (kind) => t(`tool.${kind}`);

export class Tools {
    constructor(viewer, marks, status) {
        Object.assign(this, { viewer, marks, status });
        this.kind = null;
        this.points = [];
        this.drafts = new Map(); // kind -> points of a draft whose tool was changed for another
        this.cursor = null; // where the mouse is in the picture; null: the keyboard's, in the middle
        this.isAway = true; // the mouse is over something else, and no key has moved the picture
        this.told = ''; // how the tool is used, as it was said when it was chosen
        this.given = null; // a point that is shown elsewhere, as in a profile, in place of the one under the cursor
        this.redraw = () => {}; // what draws the draft; of the page
        this.drafted = () => {}; // what keeps drafts
        this.chosen = () => {}; // what makes way for a tool
        this.buttons = new Map();
        for (const [kind, key, icon] of TOOLS) $('tools').append(this.button(kind, key, icon));
        this.bar = new DraftBar(this);
        const { canvas } = viewer;
        canvas.addEventListener('pointermove', (event) => this.follow(event));
        canvas.addEventListener('pointerleave', () => this.aside(true));
        canvas.addEventListener('pointerdown', () => this.aside(true)); // the picture may turn
        canvas.addEventListener('pointerup', (event) => this.follow(event));
        window.addEventListener('keydown', (event) => this.key(event), true);
    }

    button(kind, key, icon) {
        const button = element('button', { title: `${toolName(kind)}: ${t(`tool.${kind}.hint`)} (${shownKey(key)})` });
        button.setAttribute('aria-label', toolName(kind));
        button.setAttribute('aria-pressed', 'false');
        button.dataset.tool = kind;
        button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${icon}</svg>`; // from the table above
        button.addEventListener('click', () => {
            this.choose(kind);
            this.viewer.canvas.focus({ preventScroll: true });
        });
        this.buttons.set(kind, button);
        return button;
    }

    // The same tool once more puts it down. A draft goes over to the next tool where that takes as many points and more, and has
    // none of its own that waits; else it waits for its own.
    choose(kind) {
        if (!this.viewer.dataset?.root) return;
        const draft = { kind: this.kind, points: this.points };
        const isSame = this.kind === kind;
        this.putDown();
        if (kind === 'clip') return this.addBox();
        const goesOver = kind && !isSame && !this.drafts.has(kind) && draft.points.length > 0 && draft.points.length < KINDS[kind].max;
        if (draft.points.length > 0 && !goesOver) this.drafts.set(draft.kind, draft.points);
        if (isSame || kind === null) return;
        this.kind = kind;
        this.points = goesOver ? draft.points : this.drafts.get(kind) ?? [];
        this.drafts.delete(kind);
        this.viewer.tool = this;
        this.chosen();
        $('stage').classList.add('tool');
        this.buttons.get(kind).setAttribute('aria-pressed', 'true');
        this.told = this.usage(kind);
        this.status.say(this.told);
        this.changed();
    }

    // How a tool is used, by what there is: a keyboard and a mouse, or fingers alone.
    usage(kind) {
        const { max } = KINDS[kind];
        const ends = HAS_KEYS ? t('tool.ends') : t('tool.ends.touch');
        return [`${t(`tool.${kind}.hint`)}.`, max === Infinity && ends, max > 1 && HAS_KEYS && t('tool.escape')].filter(Boolean).join(' ');
    }

    putDown() {
        if (this.kind) this.buttons.get(this.kind).setAttribute('aria-pressed', 'false');
        this.kind = this.viewer.tool = null;
        this.points = [];
        this.status.unsay(this.told);
        $('stage').classList.remove('tool');
        this.changed();
        this.viewer.invalidate();
    }

    changed() {
        this.bar.show();
        this.redraw();
        this.drafted();
    }

    // All drafts, the one of the chosen tool last: [{ kind, points }].
    begun() {
        const waiting = [...this.drafts].map(([kind, points]) => ({ kind, points }));
        return this.points.length > 0 ? [...waiting, { kind: this.kind, points: this.points }] : waiting;
    }

    // Takes up drafts of an earlier visit. goesOn: the last one's tool is chosen; else each waits until its own is.
    takeUp(drafts, goesOn) {
        for (const { kind, points } of drafts) this.drafts.set(kind, points);
        if (goesOn && drafts.length > 0) this.choose(drafts.at(-1).kind);
    }

    // ---- the point that a click would take
    follow(event) {
        if (event.pointerType === 'touch' || event.buttons > 0) return this.aside(true);
        const box = this.viewer.canvas.getBoundingClientRect();
        this.cursor = [event.clientX - box.left, event.clientY - box.top];
        this.aside(false);
    }

    aside(isAway) {
        this.isAway = isAway;
        if (this.kind) this.redraw();
    }

    get place() {
        const { clientWidth, clientHeight } = this.viewer.canvas;
        return this.cursor ?? [clientWidth / 2, clientHeight / 2];
    }

    // The point under the cursor, in coordinates of the data set; null where there is none.
    hover() {
        if (this.given) return this.given;
        if (this.isAway) return null;
        const hit = this.viewer.pickAt(...this.place);
        return hit && hit.node.cloud.toSource(hit.point);
    }

    draft() {
        return this.kind && { kind: this.kind, points: this.points, hover: this.hover(), text: '', width: 1 };
    }

    isOnLast(x, y) {
        const last = this.points.at(-1);
        if (!last) return false;
        const at = this.viewer.onScreen(this.viewer.toLocal(last));
        return at !== null && Math.hypot(at[0] - x, at[1] - y) < SAME_PIXELS;
    }

    click(x, y) {
        if (this.points.length >= KINDS[this.kind].min && this.isOnLast(x, y)) return this.finish();
        const hit = this.viewer.pickAt(x, y);
        if (!hit) {
            this.status.say(t('tool.nothing'));
            return true;
        }
        if (this.isOnLast(x, y)) return true;
        this.take(hit.node.cloud.toSource(hit.point), hit);
        return true;
    }

    // A point of the data set, wherever it was clicked.
    take(point, hit = null) {
        this.points = [...this.points, point];
        if (this.points.length === KINDS[this.kind].max) this.finish(hit);
        this.changed();
        this.viewer.invalidate();
    }

    // A plane that was found is one that heights are measured over. Returns whether it was asked for.
    takePlane({ normal, offset, points }) {
        if (this.kind !== 'over') return false;
        const middle = [0, 1, 2].map((i) => points.reduce((sum, p) => sum + p[i], 0) / points.length);
        const size = Math.max(...points.map((p) => Math.hypot(...p.map((c, i) => c - middle[i]))));
        this.points = cornersOfPlane(normal, offset, middle, size);
        this.changed();
        this.viewer.invalidate();
        return true;
    }

    // Measures over a plane, whatever tool is chosen.
    measureOver(plane) {
        if (this.kind !== 'over') this.choose('over');
        this.takePlane(plane);
        this.viewer.canvas.focus({ preventScroll: true });
    }

    undo() {
        this.points = this.points.slice(0, -1);
        this.changed();
        this.viewer.invalidate();
    }

    // A right click: ends the draft, or the tool where there is none.
    end() {
        if (this.points.length === 0) this.putDown();
        else this.finish();
    }

    // A mark is made; the tool stays chosen for the next one.
    finish(hit = null) {
        const { kind, points } = this;
        if (points.length < KINDS[kind].min) {
            this.status.say(t('tool.more', { n: KINDS[kind].min }));
            return true;
        }
        this.points = [];
        const width = kind === 'profile' ? this.usualWidth(points) : undefined;
        const mark = this.marks.add({ kind, points, text: '', width });
        if (mark) this.made?.(mark, hit);
        this.changed();
        this.viewer.invalidate();
        return true;
    }

    // A fiftieth of the length, in one digit.
    usualWidth(points) {
        const local = points.map((p) => this.viewer.toLocal(p));
        const length = local.slice(1).reduce((sum, p, i) => sum + Math.hypot(...p.map((c, k) => c - local[i][k])), 0);
        return Number(Math.max(length / 50, 1e-9).toPrecision(1));
    }

    // In the middle of what is seen, as high as the data set and half as wide, or half as wide as the view where that is smaller.
    addBox() {
        const { viewer } = this;
        const { min, max } = viewer.rest ?? viewer.box;
        const view = viewer.camera.distance * 0.5;
        const up = upAxis(viewer.settings.up).axis;
        const size = max.map((m, i) => Math.max(i === up ? (m - min[i]) * 1.01 : Math.min((m - min[i]) / 2, view), viewer.camera.sceneSize * 1e-3));
        const center = viewer.camera.get().target.map((c, i) => (i === up ? (min[i] + max[i]) / 2 : Math.max(min[i], Math.min(max[i], c))));
        const mark = this.marks.add({ kind: 'clip', center: viewer.toWorld(center), size, yaw: 0, inside: true, text: '' });
        if (mark) this.made?.(mark, null);
    }

    toMiddle() {
        this.cursor = null;
        this.isAway = false;
    }

    // Takes the point that is shown; where none is, shows the one in the middle.
    space() {
        if (this.given) this.take(this.given);
        else if (this.isAway) this.toMiddle();
        else this.viewer.controls.events.clicked(...this.place);
    }

    key(event) {
        if (!this.kind || event.target.matches?.('input, textarea, select') || document.querySelector('dialog[open]')) return;
        const isOfPlot = event.target.closest?.('#profile') && /^(Arrow| $)/.test(event.key); // there they go from point to point
        if (isOfPlot) return;
        if (/^(Arrow|Page)/.test(event.key)) this.toMiddle(); // the picture moves under it
        const does = { Enter: () => this.finish(), Escape: () => this.putDown(), Backspace: () => this.undo(), ' ': () => this.space() }[event.key];
        if (!does || (/^(Enter| )$/.test(event.key) && event.target.matches?.('button, [role=button]'))) return;
        event.preventDefault();
        event.stopPropagation();
        does();
        this.viewer.invalidate();
    }
}
