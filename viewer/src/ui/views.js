// Saved views of this data set: a list of names, each with the text of its view, kept by the browser.
import { linkedMarks, readView } from '../view_state.js';
import { element } from './element.js';
import { integer } from './format.js';
import { keep, kept } from './kept.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const MAX_VIEWS = 100;

// What was kept may be of another version or written by hand.
function parseViews(text) {
    try {
        return JSON.parse(text ?? '[]').filter((v) => typeof v?.name === 'string' && typeof v.view === 'string').slice(0, MAX_VIEWS);
    } catch {
        return [];
    }
}

export class SavedViews {
    constructor(viewer, address, status) {
        this.viewer = viewer;
        this.address = address;
        this.status = status;
        this.list = [];
        viewer.addEventListener('opened', () => this.load());
        $('view-save').addEventListener('click', () => this.save());
        $('view-link').addEventListener('click', () => this.copyLink());
    }

    get key() {
        return `views ${this.viewer.clouds[0].dataset.url}`;
    }

    load() {
        this.list = parseViews(kept(this.key));
        this.draw();
    }

    store() {
        keep(this.key, this.list.length > 0 ? JSON.stringify(this.list) : null);
        this.draw();
    }

    save() {
        if (!this.viewer.dataset?.root || this.list.length >= MAX_VIEWS) return;
        const numbers = this.list.map(({ name }) => Number(/ (\d+)$/.exec(name)?.[1] ?? 0));
        this.list.push({ name: t('view.name', { n: Math.max(0, ...numbers) + 1 }), view: this.address.view() });
        this.store();
        this.status.say(t('view.saved', { name: this.list.at(-1).name }));
    }

    show(index) {
        const saved = this.list[index];
        if (!saved) return;
        try {
            readView(this.viewer, new URLSearchParams(saved.view), true);
        } catch (error) {
            this.status.error(t('view.asks', { what: error.message }));
        }
    }

    async copyLink() {
        if (!this.viewer.dataset?.root) return;
        this.address.write();
        try {
            await navigator.clipboard.writeText(this.address.link());
            this.status.say(t('link.copied') + this.missing());
        } catch {
            this.status.say(t('link.here') + this.missing());
        }
    }

    // What the link leaves out, in words.
    missing() {
        const { missing } = linkedMarks(this.viewer);
        return missing === 0 ? '' : ` ${t('link.missing', { n: integer(missing), all: integer(this.viewer.marks.list.length) })}`;
    }

    // Takes in views of a file. Returns how many are new.
    merge(views) {
        const known = new Set(this.list.map(({ view }) => view));
        const fresh = parseViews(JSON.stringify(views)).filter(({ view }) => !known.has(view)).slice(0, MAX_VIEWS - this.list.length);
        this.list.push(...fresh);
        if (fresh.length > 0) this.store();
        return fresh.length;
    }

    draw() {
        $('views').replaceChildren(...this.list.map((saved, index) => this.row(saved, index)));
        $('views').hidden = this.list.length === 0;
        $('tour').hidden = this.list.length < 2;
    }

    row(saved, index) {
        const go = element('button', { className: 'go', textContent: String(index + 1), title: t('view.show') + (index < 9 ? ` (${index + 1})` : '') });
        go.setAttribute('aria-label', t('cloud.show', { name: saved.name }));
        const name = element('input', { type: 'text', value: saved.name, maxLength: 60 });
        name.setAttribute('aria-label', t('view.rename'));
        const remove = element('button', { className: 'remove', textContent: '×', title: t('view.remove') });
        remove.setAttribute('aria-label', t('view.remove.of', { name: saved.name }));
        go.addEventListener('click', () => this.show(index));
        name.addEventListener('change', () => {
            saved.name = name.value.trim() || saved.name;
            this.store();
        });
        remove.addEventListener('click', () => {
            this.list.splice(index, 1);
            this.store();
        });
        return element('li', {}, go, name, remove);
    }
}
