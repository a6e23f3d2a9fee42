// The address of a live page follows its view, as that of the viewer does: a link shows the same picture, as long as the
// server shows the same cloud.
import { UP_AXES } from '../view/up_axis.js';
import { BACKGROUNDS } from '../view/settings.js';
import { RAMPS } from '../view/palettes.js';

const WRITE_MS = 400;
const MAX_NUMBER = 1e15; // products of such stay finite; the server takes finite numbers only
const CAMERA_STEP = 1e-5; // of the distance, and in radians: a hundredth of a pixel
export const MODES = ['points', 'average', 'surface'];
export const SHOWS = ['color', 'normals', 'depth', 'radius', 'iterations', 'normal-error'];

const oneOf = (list, word) => (list.includes(word) ? word : undefined);
const numbersOf = (text, count) => {
    const numbers = (text ?? '').split(',').map(Number);
    return numbers.length === count && numbers.every((v) => Math.abs(v) <= MAX_NUMBER) ? numbers : undefined;
};

// Filters as the page writes them: name:low:high.
function readFilters(texts) {
    const filters = {};
    for (const text of texts) {
        const [, name, low, high] = /^(.{1,60}):([^:]+):([^:]+)$/.exec(text) ?? [];
        const range = numbersOf(`${low},${high}`, 2);
        if (name && range && range[0] <= range[1]) filters[name] = range;
    }
    return Object.keys(filters).length > 0 ? filters : undefined;
}

// What a query says, as settings of a live view; what is nonsense is left out.
export function readLiveSettings(query) {
    const range = numbersOf(query.get('range'), 2);
    const edl = query.has('edl') ? Number(query.get('edl')) : NaN;
    const found = {
        mode: oneOf(MODES, query.get('mode')), color: query.get('color')?.slice(0, 60) ?? undefined, show: oneOf(SHOWS, query.get('show')), map: oneOf(RAMPS, query.get('ramp')),
        range: range && range[0] < range[1] ? range.join(':') : undefined, edl: edl >= 0 && edl <= 100 ? edl : undefined, up: oneOf(UP_AXES, query.get('up')), background: oneOf(BACKGROUNDS, query.get('background')),
        filters: readFilters(query.getAll('filter')), hidden: query.get('hide')?.match(/\d+/g)?.map(Number).filter((code) => code < 256),
        orthographic: query.has('ortho') ? query.get('ortho') === '1' : undefined,
    };
    return Object.fromEntries(Object.entries(found).filter(([, v]) => v !== undefined));
}

// The camera of a query; null: the query has none.
export function readLiveCamera(query) {
    const [x, y, z, yaw, pitch, distance] = numbersOf(query.get('cam'), 6) ?? [];
    return distance > 0 ? { target: [x, y, z], yaw, pitch, distance } : null;
}

// A camera as text, rounded: the picture moves by less than is seen. settle() puts the camera where the text says.
function cameraText({ target, yaw, pitch, distance }) {
    const digits = Math.max(0, Math.min(15, Math.ceil(-Math.log10(distance * CAMERA_STEP))));
    return [...target.map((c) => c.toFixed(digits)), yaw.toFixed(5), pitch.toFixed(5), Number(distance.toPrecision(6))].join();
}

// Adds a view to a query; settings that have their default value are left out.
export function writeLiveView({ settings: s, camera }, query) {
    const said = {
        mode: s.mode === 'auto' ? '' : s.mode, color: s.color, show: s.show === 'color' ? '' : s.show, ramp: s.map === 'viridis' ? '' : s.map,
        range: s.range.replace(':', ','), edl: String(s.edl), up: s.up === 'z' ? '' : s.up, ortho: s.orthographic ? '1' : '', background: s.background === 'auto' ? '' : s.background,
        cam: cameraText(camera.get()),
    };
    for (const [name, [low, high]] of Object.entries(s.filters)) query.append('filter', [name, low, high].join(':'));
    if (s.hidden.length > 0) query.set('hide', s.hidden.join());
    for (const [name, value] of Object.entries(said)) if (value !== '') query.set(name, value);
    return query;
}

// Keeps the address of the page up to date; the token stays in it.
export class LiveAddress {
    constructor(view) {
        this.view = view;
        this.token = new URLSearchParams(location.search).get('token');
        this.timer = null;
        for (const type of ['settings', 'shown', 'legend']) view.addEventListener(type, () => this.changed());
    }

    changed() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), WRITE_MS);
    }

    // Puts the camera where its text says, so that a link shows the same picture to the last bit.
    settle() {
        const { camera } = this.view;
        const before = JSON.stringify(camera.get());
        camera.set(readLiveCamera(new URLSearchParams({ cam: cameraText(camera.get()) })));
        if (JSON.stringify(camera.get()) !== before) this.view.changed();
    }

    write() {
        if (!this.view.scene?.min || !this.view.picture?.isStill) return; // not while it moves
        this.settle();
        const query = new URLSearchParams(this.token ? { token: this.token } : {});
        const url = new URL(location.href);
        url.search = writeLiveView(this.view, query).toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
        if (url.href !== location.href) history.replaceState(null, '', url.href);
    }
}
