// The picture and its camera: asks for what is wanted, shows what comes.
import { OrbitCamera } from '../view/orbit_camera.js';
import { Controls } from '../view/controls.js';
import { Fly } from '../view/fly.js';
import { frameOf } from '../view/up_axis.js';
import { sideOf } from '../view/upright.js';
import { decodePicture } from './connection.js';
import { MODES } from './live_address.js';
import { measurable } from './measurable.js';

const PIXELS_MAX = 4096 * 2304;
const MAX_FILTERS = 4; // as the server takes them
const VIEWS_KEPT = 64; // of which pictures may still come

// Events: 'settings', 'scene', 'legend', 'shown', 'picked', 'flying'.
export class LiveView extends measurable(EventTarget) {
    // begin: the camera to begin with, or null; knowsUp: the address says which axis is up
    constructor(canvas, connection, begin, knowsUp) {
        super();
        Object.assign(this, { canvas, connection, begin, knowsUp, camera: new OrbitCamera(), scene: null, picture: null, seq: 0, shownSeq: 0, isDirty: false });
        this.context = canvas.getContext('2d', { alpha: false });
        this.settings = { mode: 'auto', color: '', show: 'color', map: 'viridis', range: '', edl: '', up: 'z', orthographic: false, background: 'auto', ground: '161b24', filters: {}, hidden: [] };
        this.sent = new Map(); // number of a view -> { camera, at }
        this.asked = { id: 0, answer: null }; // the last place that the server was asked about
        this.waiting = Promise.resolve();
        this.camera.fovY = (40 * Math.PI) / 180;
        this.fly = new Fly(this.camera, { moved: () => this.changed(), changed: (isOn) => this.emit('flying', isOn), said: () => {} });
        this.controls = new Controls(canvas, this.camera, this.fly, {
            changed: () => this.changed(), clicked: (x, y) => this.click(x, y), ended: () => this.tool?.end(), picked: () => {},
            centre: () => this.middle(), pickAt: (x, y) => this.depthAt(x, y, 0), nearestAt: (x, y) => this.depthAt(x, y, Infinity),
        });
        canvas.addEventListener('dblclick', (e) => this.tool || this.pick(...this.controls.local(e)));
        connection.addEventListener('open', () => this.changed());
        connection.addEventListener('picture', ({ detail }) => (this.waiting = this.waiting.then(() => this.show(detail)).catch(() => {})));
        connection.addEventListener('said', ({ detail }) => this.said(detail));
        new ResizeObserver(() => this.resize()).observe(canvas);
    }

    emit(type, detail) {
        this.dispatchEvent(Object.assign(new Event(type), { detail }));
    }

    middle() {
        return this.scene.min.map((m, i) => (m + this.scene.max[i]) / 2);
    }

    resize() {
        const { clientWidth, clientHeight } = this.canvas;
        const ratio = Math.min(devicePixelRatio, Math.sqrt(PIXELS_MAX / (clientWidth * clientHeight)), 4096 / clientWidth, 4096 / clientHeight);
        this.size = [clientWidth, clientHeight].map((side) => Math.max(1, Math.floor(side * ratio)));
        this.camera.aspect = this.size[0] / this.size[1];
        this.changed();
    }

    configure(changes) {
        Object.assign(this.settings, changes);
        if ('up' in changes) this.camera.frame = frameOf(this.settings.up);
        this.camera.isOrthographic = this.settings.orthographic;
        this.emit('settings', changes);
        this.changed();
    }

    // begin: the camera to begin with; null: one that sees all.
    fit(begin = null) {
        if (!this.scene?.min) return;
        this.camera.fit({ min: this.scene.min, max: this.scene.max });
        if (begin) this.camera.set(begin);
        this.changed();
    }

    // At most one message for each picture of the screen.
    changed() {
        if (this.isDirty) return;
        this.isDirty = true;
        requestAnimationFrame(() => {
            this.isDirty = false;
            this.known = null; // elsewhere in the picture now
            this.askForView();
            this.emit('frame');
        });
    }

    askForView() {
        if (!this.scene?.min || !this.size || !this.connection.isOpen) return;
        const view = this.describe();
        const text = Object.entries(view).map(([name, value]) => `${name}=${value}`).join(' ');
        this.connection.send(`view seq=${++this.seq} ${text}`);
        this.sent.set(this.seq, { camera: { ...this.camera.axes(), eye: this.camera.position(), distance: this.camera.distance }, at: performance.now() });
        this.sent.delete(this.seq - VIEWS_KEPT);
    }

    // The view in the words of mote render.
    describe() {
        const s = this.settings;
        const view = { size: this.size.join(), eye: this.camera.position().join(), target: this.camera.target.join(), up: this.camera.frame[2].join(), fov: (this.camera.fovY * 180) / Math.PI,
            ortho: s.orthographic ? 1 : 0, mode: s.mode, show: s.show, map: s.map, background: s.ground };
        if (s.color) view.color = encodeURIComponent(s.color);
        if (s.range) view.range = s.range;
        if (s.edl !== '') view.edl = s.edl;
        const ranges = Object.entries(s.filters).slice(0, MAX_FILTERS);
        if (ranges.length > 0) view.keep = ranges.map(([name, [low, high]]) => `${encodeURIComponent(name)}:${low}:${high}`).join(';');
        if (s.hidden.length > 0) view.hide = s.hidden.join();
        return view;
    }

    async show(picture) {
        const image = await decodePicture(picture);
        if (this.canvas.width !== this.size[0] || this.canvas.height !== this.size[1]) [this.canvas.width, this.canvas.height] = this.size;
        this.context.imageSmoothingEnabled = picture.width !== this.size[0];
        this.context.drawImage(image, 0, 0, ...this.size);
        image.close();
        this.connection.send(`shown frame=${picture.number}`);
        const asked = this.sent.get(picture.seq);
        this.picture = { ...picture, bytes: null, size: picture.bytes.length, camera: asked?.camera, answerMs: asked ? performance.now() - asked.at : NaN, isNewest: picture.seq === this.seq };
        this.shownSeq = picture.seq;
        if (this.settings.mode === 'auto') this.configure({ mode: MODES[picture.mode] });
        this.emit('shown', this.picture);
        this.emit('frame');
    }

    said(message) {
        if (message.is === 'scene') {
            const isFirst = !this.scene?.min;
            this.scene = message;
            this.emit('opened');
            if (isFirst && message.min && !this.knowsUp) {
                this.camera.set(sideOf(message.up_reason));
                this.configure({ up: message.up });
            }
            this.emit('scene', message);
            if (isFirst) this.fit(this.begin);
            else this.changed();
        } else if (message.is === 'colors') this.emit('legend', message);
        else if (message.is === 'pick') this.asked.id === message.id && this.asked.answer(message);
        else this.emit('words', message);
    }

    // The nearest thing in the cell of the picture's grid, or in any, that is nearest to a place.
    depthAt(x, y, reach) {
        const { grid, camera } = this.picture ?? {};
        if (!camera) return null;
        const [cx, cy] = [(x / this.canvas.clientWidth) * grid.columns, (y / this.canvas.clientHeight) * grid.rows];
        let best = null;
        for (let i = 0; i < grid.depth.length; i++) {
            const [column, row] = [i % grid.columns, Math.floor(i / grid.columns)];
            if (!Number.isFinite(grid.depth[i])) continue;
            const away = Math.max(Math.abs(column + 0.5 - cx), Math.abs(row + 0.5 - cy)) - 0.5;
            if (away <= reach && (!best || away < best.away)) best = { away, depth: grid.depth[i], x: reach > 0 ? ((column + 0.5) / grid.columns) * this.canvas.clientWidth : x, y: reach > 0 ? ((row + 0.5) / grid.rows) * this.canvas.clientHeight : y };
        }
        return best && { point: this.placeAt(best.x, best.y, best.depth, camera), distance: best.depth };
    }

    placeAt(x, y, depth, { eye, right, up, forward, distance }) {
        const half = (this.camera.isOrthographic ? distance : depth) * Math.tan(this.camera.fovY / 2);
        const [px, py] = [((2 * x) / this.canvas.clientWidth - 1) * half * this.camera.aspect, (1 - (2 * y) / this.canvas.clientHeight) * half];
        return eye.map((e, i) => e + forward[i] * depth + right[i] * px + up[i] * py);
    }

    // Resolves to what the server says of a place of the picture. What is asked next takes its place: then it never does.
    ask(x, y) {
        const scale = this.size[0] / this.canvas.clientWidth;
        const id = this.asked.id + 1;
        this.connection.send(`pick id=${id} x=${Math.floor(x * scale)} y=${Math.floor(y * scale)}`);
        return new Promise((answer) => (this.asked = { id, answer }));
    }

    // The point becomes the centre, and is told.
    async pick(x, y) {
        const told = await this.ask(x, y);
        this.emit('picked', told);
        if (told.place) this.camera.set({ target: told.place, distance: Math.max(told.depth * 0.5, this.camera.sceneSize * 1e-4) });
        this.changed();
    }

    get isFiltered() {
        return Object.keys(this.settings.filters).length > 0 || this.settings.hidden.length > 0;
    }

    // Shows only values of a colouring in a range; null: all.
    setFilter(name, range) {
        const { [name]: _, ...others } = this.settings.filters;
        this.configure({ filters: range ? { ...others, [name]: range } : others });
    }

    // Shows a class, or hides it.
    toggleClass(code) {
        const { hidden } = this.settings;
        this.configure({ hidden: hidden.includes(code) ? hidden.filter((c) => c !== code) : [...hidden, code].sort((a, b) => a - b) });
    }

    // The command that makes this picture as a file.
    command() {
        const quote = (word) => (/^[\w@%+=:,./#-]+$/.test(word) && !word.startsWith('#') ? word : `'${word.replaceAll("'", "'\\''")}'`);
        const v = this.describe();
        const s = this.settings;
        const words = ['mote', 'render', ...this.scene.inputs, '--whole', '--size', this.size.join('x'), '--eye', v.eye, '--target', v.target, '--up', v.up, '--fov', String(v.fov)];
        if (s.orthographic) words.push('--ortho');
        if (s.mode !== 'auto' && !['radius', 'iterations'].includes(s.show)) words.push('--mode', s.mode);
        if (this.picture?.pointPixels > 0) words.push('--point-size', String(this.picture.pointPixels));
        if (s.show !== 'color') words.push('--show', s.show);
        else if (s.color) words.push('--color', s.color);
        if (this.legendSource === 'ramp') words.push('--map', s.map, ...(s.range ? ['--range', s.range] : []));
        if (s.edl !== '') words.push('--edl', String(s.edl));
        words.push('--keep-strays', '--normals', 'screen'); // a picture at once does not ask the neighbours of all points
        words.push('--background', `#${s.ground}`, '-o', 'view.png');
        return words.map(quote).join(' ');
    }
}
