// What is inside a polygon, a clip box or the filters: all points of it, not only those drawn, are saved, or get another class.
import { cutPoints } from '../save/cut.js';
import { areaFeature, filterOf, requestOf } from '../save/selection.js';
import { CLASSES, className } from '../view/palettes.js';
import { upAxis } from '../view/up_axis.js';
import { download, fileStem } from './download.js';
import { count } from './format.js';
import { toolName } from './tools.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const POLYGONS = new Set(['area', 'volume']);
const USER_CLASSES = 64; // from here on they are anyone's
const MAX_REGIONS = 500;

export class SavePoints {
    constructor(viewer, marks, edits, status) {
        Object.assign(this, { viewer, marks, edits, status });
        this.abort = null;
        const codes = [...Object.keys(CLASSES).map(Number), ...Array.from({ length: 256 - USER_CLASSES }, (_, i) => USER_CLASSES + i)];
        $('edit-class').append(...[...new Set(codes)].sort((a, b) => a - b).map((code) => new Option(`${code}  ${className(code)}`, code)));
        marks.addEventListener('change', () => this.later());
        for (const type of ['opened', 'active', 'classes']) viewer.addEventListener(type, () => this.later());
        $('points-save').addEventListener('click', () => this.save());
        $('points-cancel').addEventListener('click', () => this.abort?.abort());
        $('edit-add').addEventListener('click', () => this.classify());
        $('edits-save').addEventListener('click', () => this.saveList());
        $('edits-file').addEventListener('click', () => this.saveAs(`${this.stem}-classified`, requestOf(this.edits.list, [], null)));
    }

    get stem() {
        return fileStem(this.viewer.dataset.meta.name);
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.fill(), 100);
    }

    get regions() {
        return this.marks.list.filter(({ kind }) => POLYGONS.has(kind) || kind === 'clip').slice(-MAX_REGIONS);
    }

    fill() {
        if (!this.viewer.dataset?.meta) return;
        const chosen = $('region').value;
        const numbers = {};
        $('region').replaceChildren(new Option(t('save.all'), ''), ...this.regions.map(({ id, kind, text }) => {
            numbers[kind] = (numbers[kind] ?? 0) + 1;
            return new Option(text || `${toolName(kind)} ${numbers[kind]}`, id);
        }));
        // A new polygon is what its maker means.
        const ids = this.regions.map(({ id }) => String(id));
        const fresh = ids.filter((id) => !this.known?.has(id)).at(-1);
        this.known = new Set(ids);
        $('region').value = fresh ?? (ids.includes(chosen) ? chosen : '');
        $('classify').hidden = !this.viewer.filter.channel;
        $('save-section').hidden = false;
    }

    get region() {
        return this.regions.find(({ id }) => String(id) === $('region').value) ?? null;
    }

    // { areas: features without properties, filter }: what is meant by the region that is chosen.
    meant(properties = {}) {
        const { viewer, region } = this;
        const cloud = viewer.active;
        const up = upAxis(viewer.settings.up);
        const boxes = region?.kind === 'clip' ? [{ ...region, inside: true }, ...this.marks.boxes.filter(({ inside, id }) => !inside && id !== region.id)] : this.marks.boxes;
        const filter = filterOf(cloud.filter, cloud.dataset.meta, boxes, up);
        const polygons = POLYGONS.has(region?.kind) ? [[region.points, ...(region.holes ?? [])]] : null;
        return { filter, polygons, feature: (more) => areaFeature(polygons ?? [[this.footprint(up.axis)]], up.axis, { ...more, ...properties }) };
    }

    // Around the whole data set: an edit of what filters show has no polygon of its own.
    footprint(axis) {
        const { box, scale } = this.viewer.dataset.meta;
        const [a, b] = [0, 1, 2].filter((i) => i !== axis);
        const corner = (i, k) => {
            const p = [...box.min];
            [p[a], p[b]] = [[box.min[a] - scale[a], box.max[a] + scale[a]][i], [box.min[b] - scale[b], box.max[b] + scale[b]][k]];
            return p;
        };
        return [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
    }

    save() {
        const { filter, polygons, feature } = this.meant();
        const name = this.region ? `-${fileStem($('region').selectedOptions[0].textContent)}` : filter ? '-part' : '';
        return this.saveAs(`${this.stem}${name}`, requestOf(this.edits.list, polygons ? [feature({})] : [], filter));
    }

    // Saves the list of edits for the file itself, so in its units.
    saveList() {
        const { meta } = this.viewer.active.dataset;
        if (meta.isConverted) return this.status.error(t('edit.units', { name: meta.name }));
        download(`${this.stem}.edits.geojson`, JSON.stringify(requestOf(this.edits.list, [], null)), 'application/geo+json');
    }

    async saveAs(stem, request) {
        if (this.abort) return;
        this.abort = new AbortController();
        const { signal } = this.abort;
        this.working(0);
        try {
            const { blob, points, ending } = await cutPoints(this.viewer.active, request, signal, (share) => this.working(share));
            if (points === 0) return this.status.say(t('save.none'));
            download(`${stem}.${ending}`, blob, 'application/octet-stream');
            this.status.say(t('save.done', { points: count(points, 'point'), file: `${stem}.${ending}` }));
        } catch (error) {
            if (signal.aborted) this.status.say(t('save.stopped'));
            else this.status.error(t('save.failed', { why: error.message }));
        } finally {
            this.abort = null;
            this.working(null);
        }
    }

    // share: of the work that is done; null: there is none.
    working(share) {
        for (const id of ['points-save', 'edits-file']) $(id).disabled = share !== null;
        for (const id of ['points-cancel', 'points-progress']) $(id).hidden = share === null;
        $('points-progress').value = share ?? 0;
    }

    classify() {
        const { filter, feature } = this.meant();
        const code = Number($('edit-class').value);
        this.edits.add(feature({ text: $('region').selectedOptions[0].textContent, class: code, ...(filter ? { filter } : {}) }));
        this.status.say(t('edit.done', { code }));
    }
}
