// The profile along a line: all points of the file beside it by distance and height, in the colours of the picture, as an inset
// that is saved as CSV, DXF, PNG or LAS.
import { profileToDxf } from '../measure/dxf.js';
import { profileRows, profileTable } from '../measure/profile.js';
import { drawnMetres, heightMetres, shown } from '../measure/units.js';
import { surveyLine } from './survey_line.js';
import { writeLas } from '../data/las_write.js';
import { cutStrip } from '../data/strip.js';
import { t } from '../texts/texts.js';
import { upAxis } from '../view/up_axis.js';
import { count, plain, value } from './format.js';
import { download, fileStem } from './download.js';

const $ = (id) => document.getElementById(id);
const MARGIN = { left: 68, right: 12, top: 10, bottom: 26 };
const TICKS = 5;
const REDRAW_MS = 400;
const CLEAR = 80; // of 255, that colours of points are apart from black on a dark background, from white on a light one

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

// What a colour becomes, so that dark points are seen on a dark background and light ones on a light one. text: '#c4cbd7', the colour
// of letters, which are seen there.
function clearOfBackground(text) {
    const isDark = parseInt(text.slice(1, 3), 16) > 127;
    return Uint8Array.from({ length: 256 }, (_, c) => (c * (255 - CLEAR)) / 255 + (isDark ? CLEAR : 0));
}

export class ProfilePlot {
    constructor(viewer, marks, status) {
        Object.assign(this, { viewer, marks, status });
        this.id = null;
        [this.rows, this.length, this.result, this.colours] = [profileRows([], 'z'), 0, null, ''];
        marks.addEventListener('change', () => this.update());
        for (const type of ['colours', 'filters', 'clouds', 'settings']) viewer.addEventListener(type, () => this.later());
        viewer.survey.addEventListener('change', () => this.update());
        $('profile-close').addEventListener('click', () => this.hide());
        $('profile-csv').addEventListener('click', () => this.saveCsv());
        $('profile-dxf').addEventListener('click', () => this.saveDxf());
        $('profile-png').addEventListener('click', () => this.save());
        $('profile-las').addEventListener('click', () => this.saveLas());
        $('profile-width').addEventListener('change', (e) => this.setWidth(e.target.valueAsNumber));
        this.drawn = () => {}; // what draws marks over it
        new ResizeObserver(() => this.id !== null && this.draw()).observe($('profile-canvas'));
    }

    get stem() {
        return `${fileStem(this.viewer.dataset.meta.name)}-profile`;
    }

    get mark() {
        return this.marks.list.find(({ id }) => id === this.id);
    }

    show(mark) {
        this.id = mark.id;
        this.survey = surveyLine(this.viewer.survey, mark.id);
        $('profile-survey').replaceChildren(this.survey.line);
        $('profile').hidden = false;
        this.update();
    }

    hide() {
        if (this.id !== null) this.viewer.survey.stop(this.id);
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

    // The points of the survey, with heights as the file has them and colours of now.
    collect() {
        const { viewer, mark } = this;
        const { settings } = viewer;
        const meta = viewer.space;
        this.entry = viewer.survey.of(mark);
        this.survey.show(mark);
        const { result } = this.entry;
        if (this.entry.state === 'failed' || !result) [this.rows, this.length] = [profileRows([], settings.up), 0];
        else if (result !== this.result || this.colours !== this.coloursNow()) [this.rows, this.length] = [profileRows(result.parts, settings.up), result.length];
        this.result = result;
        this.heightSize = meta.stretch[upAxis(settings.up).axis]; // of one in the unit of distances
        this.colours = this.coloursNow();
        this.across = (v) => shown(v, drawnMetres(meta, settings.coordinates), settings.units);
        this.upward = (v) => shown(v, heightMetres(meta, settings.coordinates), settings.units);
        $('profile-count').textContent = result ? count(this.rows.count, 'point') : '';
        for (const id of ['profile-csv', 'profile-las', 'profile-dxf', 'profile-png']) $(id).disabled = this.entry.state !== 'done';
        $('profile-unit').textContent = drawnMetres(meta, settings.coordinates) ? shown(0, drawnMetres(meta, settings.coordinates), 'file').unit : '';
    }

    // What the colours of points depend on.
    coloursNow() {
        const { settings, clouds } = this.viewer;
        return JSON.stringify([clouds.map((cloud) => [cloud.mode.name, cloud.range()]), settings.ramp, settings.brightness, settings.contrast, settings.gamma]);
    }

    scales(width, height) {
        let [low, high] = this.rows.range;
        if (!(high > low)) [low, high] = [(Number.isFinite(low) ? low : 0) - 0.5, (Number.isFinite(low) ? low : 0) + 0.5];
        const pad = (high - low) * 0.05;
        [low, high] = [low - pad, high + pad];
        const [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
        const x = (along) => MARGIN.left + (along / (this.length || 1)) * w;
        const y = (v) => MARGIN.top + (1 - (v - low) / (high - low)) * h;
        return { x, y, low, high, exaggeration: h / ((high - low) * this.heightSize) / (w / (this.length || 1)) };
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
        this.drawAxes(g, s, width, height);
        this.drawPoints(g, s, ratio, width, height);
        this.drawn();
        $('profile-scale').textContent = Number.isFinite(s.exaggeration) ? t('fact.times', { factor: plain(Number(s.exaggeration.toPrecision(2))) }) : '';
    }

    // Ticks are round in the unit that is shown; the last of each axis names it.
    drawAxes(g, s, width, height) {
        const [up, along] = [this.upward(1), this.across(1)];
        const heights = ticks(s.low * up.value, s.high * up.value, 4);
        heights.forEach((v, i) => {
            const y = s.y(v / up.value);
            const unit = i === heights.length - 1 && up.unit ? ` ${up.unit}` : '';
            g.fillText(value(v, (s.high - s.low) * up.value) + unit, MARGIN.left - 6, y);
            g.strokeRect(MARGIN.left, y, width - MARGIN.left - MARGIN.right, 0);
        });
        g.textAlign = 'center';
        const distances = ticks(0, this.length * along.value, TICKS);
        distances.forEach((v, i) => g.fillText(plain(v) + (i === distances.length - 1 && along.unit ? ` ${along.unit}` : ''), s.x(v / along.value), height - MARGIN.bottom / 2));
    }

    // Pixel by pixel: there may be millions.
    drawPoints(g, s, ratio, width, height) {
        const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
        const image = new ImageData(w, h);
        const side = Math.max(1, Math.round(2 * ratio));
        const { count, along, heights, colours } = this.rows;
        const seen = clearOfBackground(g.fillStyle);
        for (let i = 0; i < count; i++) {
            const [x0, y0] = [Math.round(s.x(along[i]) * ratio - side / 2), Math.round(s.y(heights[i]) * ratio - side / 2)];
            for (let y = Math.max(0, y0); y < Math.min(h, y0 + side); y++) {
                for (let x = Math.max(0, x0); x < Math.min(w, x0 + side); x++) {
                    const at = 4 * (y * w + x);
                    for (let k = 0; k < 3; k++) image.data[at + k] = seen[colours[3 * i + k]];
                    image.data[at + 3] = 255;
                }
            }
        }
        const layer = Object.assign(document.createElement('canvas'), { width: w, height: h });
        layer.getContext('2d').putImageData(image, 0, 0);
        g.drawImage(layer, 0, 0, width, height);
    }

    // A point of the plot in words; -1: none.
    tell(row) {
        const { along, heights } = this.rows;
        if (row < 0) return ($('profile-at').textContent = '');
        const [far, high] = [this.across(along[row]), this.upward(heights[row])];
        const words = ({ value: v, unit }, text) => text(v) + (unit ? `\u00a0${unit}` : '');
        $('profile-at').textContent = t('profile.at', { along: words(far, plain), height: words(high, (v) => value(v, this.scale.high - this.scale.low)) });
        return undefined;
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

    // Every attribute of every point, as the file has them.
    async saveCsv() {
        try {
            download(`${this.stem}.csv`, await profileTable(this.rows), 'text/csv');
        } catch (error) {
            this.status.error(t('save.failed', { why: error.message }));
        }
    }

    // Distance and height in one unit, that of distances; a layer for each class.
    async saveDxf() {
        try {
            const { parts, along, heights } = this.rows;
            const points = [];
            for (const { node, indices } of parts) {
                const classes = (await node.cloud.exactValues(node)).find(({ key }) => key.toLowerCase() === 'classification')?.values;
                for (const index of indices) points.push({ along: along[points.length], height: heights[points.length] * this.heightSize, code: classes ? classes[index] : null });
            }
            download(`${this.stem}.dxf`, profileToDxf(points, this.length), 'image/vnd.dxf');
        } catch (error) {
            this.status.error(t('save.failed', { why: error.message }));
        }
    }

    // The points of the active cloud: cut out by the server, where that is a `mote view` on this machine and no filter hides
    // any, so that they keep their format; else written here.
    async saveLas() {
        const cloud = this.viewer.active;
        try {
            const isWhole = !cloud.filter.isActive && upAxis(this.viewer.settings.up).axis === 2;
            const all = isWhole ? await cutStrip(cloud, this.mark) : null;
            download(`${this.stem}.las`, all ?? (await this.las(cloud)), 'application/octet-stream');
        } catch (error) {
            this.status.error(t('save.failed', { why: error.message }));
        }
    }

    // The profile as LAS, with all attributes that the format has a place for.
    async las(cloud) {
        const { meta } = cloud.dataset;
        const parts = this.rows.parts.filter(({ node }) => node.cloud === cloud);
        const count = parts.reduce((sum, { indices }) => sum + indices.length, 0);
        const columns = new Map();
        const steps = [];
        for (const { node, indices, steps: own } of parts) {
            for (const { key, values } of await cloud.exactValues(node)) {
                const name = key.toLowerCase();
                if (!columns.has(name)) columns.set(name, new Float64Array(count));
                indices.forEach((index, i) => (columns.get(name)[steps.length + i] = values[index]));
            }
            for (let i = 0; i < own.length; i += 3) steps.push([...own.subarray(i, i + 3)]);
        }
        return writeLas({ ...meta, ...meta.stored, wkt: meta.projection }, steps, (name) => columns.get(name) ?? null);
    }
}
