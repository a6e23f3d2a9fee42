// The address of the page follows the view, so that it can be copied, kept and opened again; so do the kept settings.
import { readSettings, writeSettings } from '../view/settings.js';
import { writeView } from '../view_state.js';
import { isLocal } from '../data/local_files.js';
import { keep, kept } from './kept.js';

const WRITE_MS = 400; // after the last change: browsers bear few changes of an address in a second
const OF_THE_PAGE = ['data', 'lonlat', 'wasm', 'marks']; // what an address says of the data and not of the view
const NOT_KEPT = ['up', 'coordinates']; // belong to the data set

// The settings to begin with: those kept, unless the address holds a whole view.
export function firstSettings(query) {
    const before = query.has('cam') ? {} : readSettings(new URLSearchParams(kept('settings') ?? ''));
    return { ...before, ...readSettings(query) };
}

export class Address {
    constructor(viewer) {
        this.viewer = viewer;
        this.timer = null;
        this.page = new URLSearchParams();
        const given = new URLSearchParams(location.search);
        for (const key of OF_THE_PAGE) for (const value of key === 'data' ? given.getAll(key).slice(0, 1) : given.getAll(key)) this.page.append(key, value);
        this.first = given.get('data');
        viewer.marks.addEventListener('change', () => this.changed());
        for (const type of ['frame', 'settings', 'colours', 'classes', 'filters', 'clouds', 'active']) viewer.addEventListener(type, () => this.changed());
        viewer.addEventListener('settings', () => keep('settings', writeSettings(viewer.settings, new URLSearchParams(), NOT_KEPT).toString()));
    }

    changed() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), WRITE_MS);
    }

    // What the address says of the data: as it was given for the first cloud, in full for the others.
    ofThePage() {
        const query = new URLSearchParams(this.page);
        const [, ...more] = this.viewer.clouds;
        if (more.length === 0) return query;
        query.delete('data');
        query.append('data', this.first ?? shortened(this.viewer.clouds[0].dataset.url));
        for (const { dataset } of more) if (!isLocal(dataset.url)) query.append('data', shortened(dataset.url));
        return query;
    }

    // The view alone, as text.
    view() {
        return readable(writeView(this.viewer, new URLSearchParams(), 'clip'));
    }

    // The address of what is seen now.
    link() {
        const url = new URL(location.href);
        url.search = readable(writeView(this.viewer, this.ofThePage()));
        url.hash = '';
        return url.href;
    }

    write() {
        if (!this.viewer.dataset?.root || this.viewer.isMoving || this.viewer.firstPictureMs === null) return;
        const link = this.link();
        if (link !== location.href) history.replaceState(null, '', link);
    }
}

// An address of the page's own server becomes relative to the page.
function shortened(url) {
    const here = new URL('.', location.href).href;
    return url.startsWith(here) ? url.slice(here.length) : url;
}

// Commas and slashes may stand in a query as they are.
const readable = (query) => query.toString().replaceAll('%2C', ',').replaceAll('%2F', '/').replaceAll('%3A', ':');
