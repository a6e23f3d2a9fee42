// Marks are kept by the browser for each data set, so that none is lost when the page is closed or a link has no room for them.
//
//   list   what is shown                      kept = list and aside, at each change
//   aside  what this browser keeps besides: a link that was opened shows what it holds and nothing else
//
// Measurements that were begun are kept beside them, and go on.
import { MAX_MARKS, cleaned, cleanedDraft, markKey } from '../measure/marks.js';
import { count, integer } from './format.js';
import { keep, kept } from './kept.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const WRITE_MS = 300;

function parseKept(text, clean = cleaned) {
    try {
        return JSON.parse(text ?? '[]').map(clean).filter(Boolean).slice(0, MAX_MARKS);
    } catch {
        return [];
    }
}

// The same data set, wherever it is served: `mote view` gives each the same address.
function nameOf({ name, sourcePoints, box }) {
    return `marks ${JSON.stringify([name, sourcePoints, box.min, box.max])}`;
}

const draftsKey = (key) => `${key} drafts`;

export class KeptMarks {
    constructor(viewer, marks, tools, status) {
        Object.assign(this, { viewer, marks, tools, status });
        this.aside = [];
        this.key = null; // until it is known what was kept, nothing is written
        marks.addEventListener('change', () => this.later());
        tools.drafted = () => this.later();
        window.addEventListener('pagehide', () => this.write());
        document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && this.write());
        window.addEventListener('storage', ({ key, newValue }) => key === `mote.${this.key}` && this.otherPage(newValue));
        viewer.addEventListener('replaced', () => this.key && this.replaced());
        $('marks-aside-show').addEventListener('click', () => this.showAside());
    }

    keyOf = (mark) => markKey(mark, this.viewer.clouds[0].dataset.meta.scale);

    without(list, others) {
        const known = new Set(others.map(this.keyOf));
        return list.filter((mark) => !known.has(this.keyOf(mark)));
    }

    // query: of the address, whose view is shown already.
    restore(query) {
        const key = nameOf(this.viewer.clouds[0].dataset.meta);
        const before = parseKept(kept(key));
        const missing = Number(query.get('unmarked')) || 0;
        const isReload = performance.getEntriesByType('navigation')[0]?.type === 'reload';
        const shown = this.marks.list;
        const more = this.without(before, shown);
        const isOfLink = (query.has('cam') || query.has('mark')) && !isReload && missing === 0;
        if (isOfLink) this.aside = more;
        else if (isReload && before.length > 0) this.marks.replace(before);
        else if (more.length > 0) this.marks.replace([...shown, ...more]);
        const drafts = parseKept(kept(draftsKey(key)), cleanedDraft);
        this.key = key;
        this.tools.takeUp(drafts, !isOfLink);
        if (missing > 0 && this.marks.list.length < shown.length + missing) {
            this.status.error(t('kept.missing', { n: integer(missing) }));
        }
        this.marks.past = [];
        this.tell();
        this.later();
    }

    // The octree has come in the place of its sample: what was kept of it before comes along.
    replaced() {
        const key = nameOf(this.viewer.clouds[0].dataset.meta);
        if (key === this.key) return;
        this.key = key;
        const more = this.without(parseKept(kept(key)), [...this.marks.list, ...this.aside]);
        if (more.length > 0) this.marks.replace([...this.marks.list, ...more]);
        this.later();
    }

    // Another window of the same data set has written.
    otherPage(text) {
        this.aside = this.without(parseKept(text), this.marks.list);
        this.tell();
    }

    showAside() {
        const more = this.aside;
        this.aside = [];
        this.marks.replace([...this.marks.list, ...more]);
        this.tell();
    }

    tell() {
        const n = this.aside.length;
        $('marks-aside').hidden = n === 0;
        $('marks-aside-text').textContent = t('kept.more', { marks: count(n, 'more mark') });
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), WRITE_MS);
    }

    write() {
        if (!this.key) return;
        clearTimeout(this.timer);
        const all = [...this.marks.list.map(({ id: _, ...mark }) => mark), ...this.aside];
        const isKept = keep(this.key, all.length > 0 ? JSON.stringify(all) : null);
        const drafts = this.tools.begun();
        keep(draftsKey(this.key), drafts.length > 0 ? JSON.stringify(drafts) : null);
        if (!isKept && all.length > 0) this.status.error(t('kept.not'));
    }
}
