// The tools: what a click in the picture does while one is chosen. Clicks add points; Enter, or a click on the last point,
// ends a path; Escape puts the tool down.
import { KINDS } from '../measure/marks.js';
import { upAxis } from '../view/up_axis.js';
import { element } from './element.js';

const $ = (id) => document.getElementById(id);
const SAME_PIXELS = 6;

// kind, key, name, what to do, icon (paths of 24 x 24)
export const TOOLS = [
    ['point', 'i', 'Point', 'Click a point: all its attributes', '<circle cx="12" cy="12" r="2.5"/><path d="M12 3v5M12 16v5M3 12h5M16 12h5"/>'],
    ['distance', 'd', 'Distance', 'Click points; Enter ends', '<path d="M4 17 17 4l3 3L7 20zM8 13l2 2M11 10l2 2M14 7l2 2"/>'],
    ['height', 'y', 'Height', 'Click two points', '<path d="M12 4v16M8 8l4-4 4 4M8 16l4 4 4-4M4 4h4M4 20h4"/>'],
    ['angle', 'g', 'Angle', 'Click three points; the angle is at the second', '<path d="M19 19H5L16 5M11 19a7 7 0 0 0-1.800-5"/>'],
    ['area', 'q', 'Area', 'Click corners; Enter ends', '<path d="M5 8 13 4l7 6-3 9-11 1z"/>'],
    ['volume', 'k', 'Volume', 'Click corners around a heap; Enter ends', '<path d="M3 18h18M5 18c2-9 4-11 7-11s5 2 7 11"/>'],
    ['profile', 'n', 'Profile', 'Click a line; Enter ends', '<path d="M4 4v16h16M7 16l4-6 3 3 5-7"/>'],
    ['note', 'j', 'Note', 'Click where it belongs', '<path d="M5 5h14v10h-8l-4 4v-4H5z"/>'],
    ['clip', 'z', 'Clip box', 'Adds a box that is dragged by its sides', '<path d="M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8"/>'],
];

export class Tools {
    constructor(viewer, marks, status) {
        Object.assign(this, { viewer, marks, status });
        this.kind = null;
        this.points = [];
        this.buttons = new Map();
        for (const [kind, key, name, hint, icon] of TOOLS) $('tools').append(this.button(kind, key, name, hint, icon));
        window.addEventListener('keydown', (event) => this.key(event), true);
    }

    button(kind, key, name, hint, icon) {
        const button = element('button', { title: `${name}: ${hint} (${key.toUpperCase()})` });
        button.setAttribute('aria-label', name);
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

    // The same tool once more puts it down.
    choose(kind) {
        if (!this.viewer.dataset?.root) return;
        if (kind === 'clip') {
            this.putDown();
            return this.addBox();
        }
        const isSame = this.kind === kind;
        this.putDown();
        if (isSame || kind === null) return;
        this.kind = kind;
        this.viewer.tool = this;
        $('stage').classList.add('tool');
        this.buttons.get(kind).setAttribute('aria-pressed', 'true');
        this.status.say(TOOLS.find(([k]) => k === kind)[3] + (KINDS[kind].max > 1 ? '. Escape ends without.' : '.'));
    }

    putDown() {
        if (this.kind) this.buttons.get(this.kind).setAttribute('aria-pressed', 'false');
        this.kind = this.viewer.tool = null;
        this.points = [];
        $('stage').classList.remove('tool');
        this.viewer.invalidate();
    }

    draft() {
        return this.kind && { kind: this.kind, points: this.points, text: '', width: 1 };
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
            this.status.say('There is no point under the cursor.');
            return true;
        }
        if (this.isOnLast(x, y)) return true;
        this.points.push(hit.node.cloud.toSource(hit.point));
        if (this.points.length === KINDS[this.kind].max) this.finish(hit);
        this.viewer.invalidate();
        return true;
    }

    // A mark is made; the tool stays chosen for the next one.
    finish(hit = null) {
        const { kind, points } = this;
        if (points.length < KINDS[kind].min) {
            this.status.say(`This needs ${KINDS[kind].min} points.`);
            return true;
        }
        this.points = [];
        const width = kind === 'profile' ? this.usualWidth(points) : undefined;
        const mark = this.marks.add({ kind, points, text: '', width });
        if (mark) this.made?.(mark, hit);
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

    key(event) {
        if (!this.kind || event.target.matches?.('input, textarea, select') || document.querySelector('dialog[open]')) return;
        const does = { Enter: () => this.finish(), Escape: () => this.putDown(), Backspace: () => this.points.pop() }[event.key];
        if (!does || (event.key === 'Enter' && event.target.matches?.('button'))) return;
        event.preventDefault();
        event.stopPropagation();
        does();
        this.viewer.invalidate();
    }
}
