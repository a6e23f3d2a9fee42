// The profile along a line: points near it by distance and height, in the colours of the picture, as an inset that is
// saved as CSV, PNG or LAS.
import { walkProfile } from '../measure/profile.js';
import { reachOf } from '../measure/figures.js';
import { csv } from '../data/csv.js';
import { profileToDxf } from '../measure/dxf.js';
import { writeLas } from '../data/las_write.js';
import { cutStrip } from '../data/strip.js';
import { upAxis } from '../view/up_axis.js';
import { coordinates, plain, value } from './format.js';
import { download, fileStem } from './download.js';

const $ = (id) => document.getElementById(id);
const MARGIN = { left: 52, right: 12, top: 10, bottom: 26 };
const TICKS = 5;
const REDRAW_MS = 400;

// Round numbers between low and high.
function ticks(low, high, count) {
    const raw = (high - low) / count;
    if (!(raw > 0)) return [low];
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
    const out = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) out.push(v);
    return out;
}

export class ProfilePlot {
    constructor(viewer, marks, status) {
        Object.assign(this, { viewer, marks, status });
        this.id = null;
        this.points = [];
        marks.addEventListener('change', () => this.update());
        for (const type of ['colours', 'frame']) viewer.addEventListener(type, () => this.later());
        $('profile-close').addEventListener('click', () => this.hide());
        $('profile-csv').addEventListener('click', () => download(`${this.stem}.csv`, this.table(), 'text/csv'));
        $('profile-dxf').addEventListener('click', () => download(`${this.stem}.dxf`, profileToDxf(this.points.map(this.drawn), this.length), 'image/vnd.dxf'));
        $('profile-png').addEventListener('click', () => this.save());
        $('profile-las').addEventListener('click', () => this.saveLas());
        $('profile-width').addEventListener('change', (e) => this.setWidth(e.target.valueAsNumber));
        $('profile-canvas').addEventListener('pointermove', (e) => this.point(e));
    }

    get stem() {
        return `${fileStem(this.viewer.dataset.meta.name)}-profile`;
    }

    get mark() {
        return this.marks.list.find(({ id }) => id === this.id);
    }

    show(mark) {
        this.id = mark.id;
        $('profile').hidden = false;
        this.update();
    }

    hide() {
        this.id = null;
        $('profile').hidden = true;
    }

    later() {
        if (this.id === null) return;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.update(), REDRAW_MS);
    }

    setWidth(width) {
        if (width > 0 && this.mark) this.marks.alter(this.id, (m) => (m.width = width));
        else this.update();
    }

    update() {
        if (this.id === null) return;
        if (!this.mark) return this.hide();
        if (document.activeElement !== $('profile-width')) $('profile-width').value = this.mark.width;
        this.collect();
        this.draw();
    }

    collect() {
        const { viewer, mark } = this;
        const { axis, sign } = upAxis(viewer.settings.up);
        const path = mark.points.map((p) => viewer.toLocal(p));
        const from = [];
        const all = viewer.drawnPoints(reachOf(path, axis, mark.width), (node, index) => from.push([node, index]));
        this.points = [];
        const { origin, stretch } = viewer.dataset.meta;
        this.length = walkProfile(all, path, mark.width, axis, (i, along, height) => {
            this.points.push({ along, height: sign * (height / stretch[axis] + origin[axis]), place: all.slice(3 * i, 3 * i + 3), node: from[i][0], index: from[i][1], colour: from[i][0].cloud.colourAt(...from[i]) });
        });
        this.points.sort((a, b) => a.along - b.along);
        $('profile-count').textContent = `${this.points.length.toLocaleString('en-US').replaceAll(',', ' ')} points shown`;
    }

    scales(width, height) {
        let [low, high] = [Infinity, -Infinity];
        for (const p of this.points) [low, high] = [Math.min(low, p.height), Math.max(high, p.height)];
        if (!(high > low)) [low, high] = [(Number.isFinite(low) ? low : 0) - 0.5, (Number.isFinite(low) ? low : 0) + 0.5];
        const pad = (high - low) * 0.05;
        [low, high] = [low - pad, high + pad];
        const [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
        const x = (along) => MARGIN.left + (along / (this.length || 1)) * w;
        const y = (v) => MARGIN.top + (1 - (v - low) / (high - low)) * h;
        return { x, y, low, high, exaggeration: h / (high - low) / (w / (this.length || 1)) };
    }

    draw() {
        const canvas = $('profile-canvas');
        const ratio = Math.min(2, window.devicePixelRatio || 1);
        const [width, height] = [canvas.clientWidth, canvas.clientHeight];
        if (width === 0) return;
        [canvas.width, canvas.height] = [width * ratio, height * ratio];
        const g = canvas.getContext('2d');
        g.scale(ratio, ratio);
        const css = getComputedStyle(canvas);
        const s = (this.scale = this.scales(width, height));
        g.font = '11px system-ui, sans-serif';
        g.fillStyle = css.color;
        g.strokeStyle = css.borderTopColor;
        g.textAlign = 'right';
        g.textBaseline = 'middle';
        for (const v of ticks(s.low, s.high, 4)) {
            g.fillText(value(v, s.high - s.low), MARGIN.left - 6, s.y(v));
            g.strokeRect(MARGIN.left, s.y(v), width - MARGIN.left - MARGIN.right, 0);
        }
        g.textAlign = 'center';
        for (const v of ticks(0, this.length, TICKS)) g.fillText(plain(v), s.x(v), height - MARGIN.bottom / 2);
        for (const p of this.points) {
            g.fillStyle = `rgb(${p.colour.join()})`;
            g.fillRect(s.x(p.along) - 1, s.y(p.height) - 1, 2, 2);
        }
        $('profile-scale').textContent = Number.isFinite(s.exaggeration) ? `heights × ${plain(Number(s.exaggeration.toPrecision(2)))}` : '';
    }

    // The point nearest to the cursor, in words.
    point(event) {
        const box = $('profile-canvas').getBoundingClientRect();
        const [x, y] = [event.clientX - box.left, event.clientY - box.top];
        let best = null;
        let least = 12;
        for (const p of this.points) {
            const d = Math.hypot(this.scale.x(p.along) - x, this.scale.y(p.height) - y);
            if (d < least) [least, best] = [d, p];
        }
        $('profile-at').textContent = best ? `${plain(best.along)} along, height ${value(best.height, this.scale.high - this.scale.low)}` : '';
    }

    // With a background of its own. On the page it has none: some browsers cut off what lies below an opaque canvas.
    save() {
        const plot = $('profile-canvas');
        const canvas = Object.assign(document.createElement('canvas'), { width: plot.width, height: plot.height });
        const g = canvas.getContext('2d');
        g.fillStyle = getComputedStyle($('panel')).backgroundColor;
        g.fillRect(0, 0, canvas.width, canvas.height);
        g.drawImage(plot, 0, 0);
        canvas.toBlob((blob) => download(`${this.stem}.png`, blob));
    }

    // All points of the file beside the line, cut out by the server, where that is a `mote view` on this machine and no
    // filter hides any; else those that are shown.
    async saveLas() {
        const cloud = this.viewer.active;
        try {
            const all = cloud.filter.isActive ? null : await cutStrip(cloud, this.mark, upAxis(this.viewer.settings.up).axis);
            if (all) return download(`${this.stem}.las`, all, 'application/octet-stream');
        } catch (error) {
            return this.status.error(`The points could not be saved: ${error.message}`);
        }
        return this.saveShown(cloud);
    }

    // The points of a cloud that are shown, with all attributes that LAS has a place for.
    async saveShown(cloud) {
        const { meta } = cloud.dataset;
        const points = this.points.filter(({ node }) => node.cloud === cloud);
        const columns = new Map();
        try {
            for (const node of new Set(points.map((p) => p.node))) {
                const own = points.flatMap((p, i) => (p.node === node ? [[i, p.index]] : []));
                for (const { key, values } of await cloud.exactValues(node)) {
                    const name = key.toLowerCase();
                    if (!columns.has(name)) columns.set(name, new Float64Array(points.length));
                    for (const [i, index] of own) columns.get(name)[i] = values[index];
                }
            }
        } catch (error) {
            return this.status.error(`The points could not be saved: ${error.message}`);
        }
        const las = writeLas({ ...meta, wkt: meta.projection }, points.map(({ place }) => cloud.toSteps(place)), (name) => columns.get(name) ?? null);
        return download(`${this.stem}.las`, las, 'application/octet-stream');
    }

    // A point of the profile as a drawing has it.
    drawn = ({ along, height, node, index }) => {
        const { channel } = node.cloud.filter;
        const values = channel && node.payload?.scalars.get(channel.key)?.values;
        return { along, height, code: values ? values[index] + channel.base : null };
    };

    table() {
        const { viewer } = this;
        const { scale } = viewer.dataset.meta;
        const rows = this.points.map(({ along, height: _, place, colour }) => {
            const source = coordinates(viewer.toSource(place), scale);
            return [along.toFixed(4), ...source, ...colour];
        });
        return csv([['along', 'x', 'y', 'z', 'red', 'green', 'blue'], ...rows]);
    }
}
