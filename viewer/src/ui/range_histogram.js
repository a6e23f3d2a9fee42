// A histogram with two handles: a range of values, dragged by mouse or finger or moved by the keyboard.
import { BINS } from '../view/histogram.js';
import { element } from './element.js';

const STEPS = 200; // of the keyboard, from end to end
const MIN_BAR = 0.04; // a bin with few values is still seen

export class RangeHistogram {
    // change(range): called while a handle moves. names: of both ends, for screen readers.
    constructor(names, change) {
        this.change = change;
        this.full = [0, 1];
        this.range = [0, 1];
        this.bars = element('div', { className: 'bars' });
        this.bars.append(...Array.from({ length: BINS }, () => element('i')));
        this.handles = names.map((name, i) => this.handle(name, i));
        this.box = element('div', { className: 'histogram' }, this.bars, ...this.handles);
    }

    handle(label, index) {
        const handle = element('span', { className: 'handle', tabIndex: 0 });
        handle.setAttribute('role', 'slider');
        handle.setAttribute('aria-label', label);
        handle.addEventListener('pointerdown', (event) => {
            event.preventDefault();
            handle.setPointerCapture(event.pointerId);
            handle.focus();
            handle.onpointermove = (e) => this.move(index, this.valueAt(e.clientX));
        });
        for (const type of ['pointerup', 'pointercancel']) handle.addEventListener(type, () => (handle.onpointermove = null));
        handle.addEventListener('keydown', (event) => this.key(event, index));
        return handle;
    }

    valueAt(x) {
        const { left, width } = this.bars.getBoundingClientRect();
        const t = Math.max(0, Math.min(1, (x - left) / Math.max(1, width)));
        return this.full[0] + t * (this.full[1] - this.full[0]);
    }

    key(event, index) {
        const step = (this.full[1] - this.full[0]) / STEPS;
        const moves = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, PageUp: 10 * step, PageDown: -10 * step };
        const ends = { Home: this.full[0], End: this.full[1] };
        const value = event.key in ends ? ends[event.key] : event.key in moves ? this.range[index] + moves[event.key] : null;
        if (value === null) return;
        event.preventDefault();
        event.stopPropagation();
        this.move(index, Math.max(this.full[0], Math.min(this.full[1], value)));
    }

    // A handle that meets the other one takes it along.
    move(index, value) {
        const range = [...this.range];
        range[index] = value;
        if (range[0] > range[1]) range[1 - index] = value;
        this.change(range);
    }

    // full: from end to end; shares: of each bin, or null where nothing is known; text(value); colour(share of the way).
    show({ full, range, shares, text, colour = null }) {
        Object.assign(this, { full, range });
        const span = full[1] - full[0];
        const at = (v) => (span > 0 ? Math.max(0, Math.min(1, (v - full[0]) / span)) : 0);
        const [a, b] = range.map(at);
        [...this.bars.children].forEach((bar, i) => {
            const t = (i + 0.5) / BINS;
            const share = shares?.[i] ?? 0;
            bar.style.height = `${100 * (share > 0 ? MIN_BAR + (1 - MIN_BAR) * share : 0)}%`;
            bar.classList.toggle('out', t < a || t > b);
            bar.style.background = colour && b > a ? colour(Math.max(0, Math.min(1, (t - a) / (b - a)))) : '';
        });
        this.handles.forEach((handle, i) => {
            handle.style.left = `${100 * at(range[i])}%`;
            handle.setAttribute('aria-valuemin', full[0]);
            handle.setAttribute('aria-valuemax', full[1]);
            handle.setAttribute('aria-valuenow', range[i]);
            handle.setAttribute('aria-valuetext', text(range[i]));
            handle.title = text(range[i]);
        });
    }
}
