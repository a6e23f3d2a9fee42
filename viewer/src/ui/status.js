// The status line, the loading bar, the splash and the messages.
import { integer, value } from './format.js';

const $ = (id) => document.getElementById(id);
const MAX_MESSAGES = 3;

export class Status {
    constructor(viewer) {
        this.viewer = viewer;
        this.peak = 0; // nodes still to come when the present burst of loading was largest
        this.frames = [];
        this.seen = new Set();
        viewer.addEventListener('frame', () => this.frame());
        viewer.addEventListener('firstpicture', () => ($('splash').hidden = true));
        viewer.addEventListener('error', (e) => this.error(e.detail));
        viewer.addEventListener('picked', (e) => this.picked(e.detail));
    }

    frame() {
        const stats = this.viewer.stats();
        $('s-points').textContent = `${integer(stats.pointsDrawn)} points`;
        $('s-nodes').textContent = `${integer(stats.nodesDrawn)} nodes, ${stats.levels} levels` + (stats.budgetReached ? ', budget reached' : '');
        $('s-fps').textContent = this.rate();
        clearTimeout(this.rest);
        this.rest = setTimeout(() => ($('s-fps').textContent = ''), 1500);
        this.progress();
    }

    // Frames are drawn on demand: the rate says something only while they follow each other.
    rate() {
        const now = performance.now();
        this.frames = this.frames.filter((t) => now - t < 1000);
        this.frames.push(now);
        if (this.frames.length < 3) return '';
        const span = now - this.frames[0];
        return `${Math.round(((this.frames.length - 1) * 1000) / span)} fps`;
    }

    progress() {
        const { loader } = this.viewer;
        const left = loader.loading + loader.wanted.length + loader.chunks.length;
        this.peak = left === 0 ? 0 : Math.max(this.peak, left);
        const bar = $('progress');
        bar.hidden = left === 0;
        if (left === 0) {
            bar.firstElementChild.style.width = '0';
            return;
        }
        const percent = Math.round(Math.max(4, 100 * (1 - left / this.peak)));
        bar.firstElementChild.style.width = `${percent}%`;
        bar.setAttribute('aria-valuenow', percent);
    }

    picked({ point, distance }) {
        const digits = Math.max(distance * 1e-3, 1e-4);
        const text = this.viewer.toWorld(point).map((c) => value(c, digits)).join(', ');
        $('s-pick').textContent = `x y z  ${text}`;
    }

    // Before anything is drawn an error takes the place of the picture; later it is a note that can be closed.
    error(text) {
        if (!$('splash').hidden) {
            $('splash').querySelector('.spinner').hidden = true;
        }
        if (this.seen.has(text) || this.seen.size >= MAX_MESSAGES) return;
        this.seen.add(text);
        const note = document.createElement('div');
        note.className = 'message';
        const words = document.createElement('p');
        words.textContent = text;
        const close = Object.assign(document.createElement('button'), { textContent: '×' });
        close.setAttribute('aria-label', 'Close this message');
        close.addEventListener('click', () => {
            note.remove();
            this.seen.delete(text);
        });
        note.append(words, close);
        $('messages').append(note);
    }

    fatal(text) {
        $('splash').hidden = false;
        $('splash').querySelector('.spinner').hidden = true;
        $('splash').querySelector('p').textContent = 'Nothing to show.';
        this.error(text);
    }

    empty() {
        $('splash').querySelector('.spinner').hidden = true;
        $('splash').querySelector('p').textContent = 'This data set has no points.';
    }
}
