// Marks as files: GeoJSON and DXF are saved; GeoJSON of anyone is read and added to what is there.
import { bridge, looksLikeDegrees, placesOf } from '../data/places.js';
import { heightsOver } from '../measure/drape.js';
import { marksToDxf } from '../measure/dxf.js';
import { figureText } from '../measure/figures.js';
import { cornersOf, hasFlat, readGeoJson, toGeoJson, toMarks } from '../measure/geojson.js';
import { markKey } from '../measure/marks.js';
import { drawnMetres, unitName } from '../measure/units.js';
import { parseCrs } from '../data/crs.js';
import { vectorsText } from '../data/vectors.js';
import { upAxis } from '../view/up_axis.js';
import { linkedMarks } from '../view_state.js';
import { download, fileStem } from './download.js';
import { count, integer } from './format.js';
import { clipBoxOf } from './overlay.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const FORMATS = [['geojson', 'GeoJSON'], ['rfc7946', t('marks.rfc7946')], ['dxf', 'DXF']];
const MAX_ADDRESSES = 20;
const TELL_MS = 400;

const loud = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export class MarksFiles {
    // overlay: has the figures of marks; views: SavedViews
    constructor(viewer, marks, overlay, views, status) {
        Object.assign(this, { viewer, marks, overlay, views, status });
        $('marks-format').append(...FORMATS.map(([value, name]) => new Option(name, value)));
        $('marks-save').addEventListener('click', () => this.save($('marks-format').value));
        $('marks-load').addEventListener('click', () => $('marks-file').click());
        $('marks-file').addEventListener('change', ({ target }) => {
            const files = [...target.files];
            target.value = '';
            this.readAll(files);
        });
        marks.addEventListener('change', () => this.later());
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.tell(), TELL_MS);
    }

    // Says what the address of the page has no room for.
    tell() {
        if (!this.viewer.dataset?.meta) return;
        const { missing } = linkedMarks(this.viewer);
        $('marks-told').hidden = missing === 0;
        $('marks-told').textContent = t('marks.unlinked', { n: integer(missing), marks: count(this.marks.list.length, 'mark') });
    }

    // ---- saving
    async save(format) {
        const stem = fileStem(this.viewer.dataset.meta.name);
        try {
            if (format === 'dxf') download(`${stem}.dxf`, this.dxf(), 'image/vnd.dxf');
            else download(`${stem}.geojson`, await this.geoJson(format === 'rfc7946'), 'application/geo+json');
        } catch (error) {
            this.status.error(t('marks.unsaved', { why: error.message }));
        }
    }

    async geoJson(isRfc7946) {
        const meta = this.viewer.space;
        const toWgs84 = isRfc7946 ? (await placesOf(meta)).toWgs84 : null;
        const rounded = toWgs84 && ((p) => toWgs84(p).map((c, i) => Number(c.toFixed(i < 2 ? 9 : 4))));
        const json = toGeoJson(this.marks.list, {
            figures: (mark) => this.overlay.figuresOf(mark), unit: unitName(drawnMetres(meta, this.viewer.settings.coordinates)), crs: parseCrs(meta.projection), projection: meta.projection, toWgs84: rounded, views: this.views.list,
        });
        const { features, ...rest } = json;
        // A feature on each line: people compare and merge such files line by line.
        const head = JSON.stringify(rest).slice(0, -1);
        return `${head},"features":[\n${features.map((feature) => JSON.stringify(feature)).join(',\n')}\n]}\n`;
    }

    dxf() {
        const { viewer } = this;
        const textOf = (mark) => {
            const [first] = Object.entries(this.overlay.figuresOf(mark));
            return [mark.text, first && mark.kind !== 'clip' ? figureText(...first, viewer.space, viewer.settings) : ''].filter(Boolean).join(': ');
        };
        const list = this.marks.list.map((mark) => (mark.kind === 'circle' ? { ...mark, points: this.overlay.circleOf(mark) } : mark));
        return marksToDxf(list, textOf, (mark) => clipBoxOf(viewer, mark).corners().map((p) => viewer.toWorld(p)));
    }

    // ---- reading
    async readAll(files) {
        for (const file of files) await this.read(file);
    }

    async read(file) {
        try {
            if (file.size > MAX_FILE_BYTES) throw new Error(t('file.large'));
            await this.take(await vectorsText(file), file.name);
        } catch (error) {
            this.status.error(t('marks.none', { name: file.name, why: error.message }));
        }
    }

    // Files that the address, or the page of a site, names.
    async readAddresses(addresses) {
        for (const address of addresses.slice(0, MAX_ADDRESSES)) {
            try {
                const url = new URL(address, location.href);
                if (!/^https?:$/.test(url.protocol)) throw new Error(t('marks.web'));
                const answer = await fetch(url, { credentials: 'omit' });
                if (!answer.ok) throw new Error(t('server.says', { status: answer.status }));
                if (Number(answer.headers.get('Content-Length')) > MAX_FILE_BYTES) throw new Error(t('file.large'));
                await this.take(await answer.text(), url.pathname.split('/').pop());
            } catch (error) {
                this.status.error(t('marks.unread', { address: address.slice(0, 100), why: error.message }));
            }
        }
    }

    // Adds the marks of a text to those that are there.
    async take(text, name) {
        const { viewer } = this;
        const read = readGeoJson(text);
        const { place, words, note } = await this.placing(read);
        const flat = { lost: 0 };
        const marks = toMarks(read, { place, heightAt: hasFlat(read) ? this.heights(read, place, flat) : undefined });
        const reasons = String(read.reasons);
        if (marks.length === 0 && read.views.length === 0 && reasons) throw new Error(t('geojson.none', { reasons }));
        const { added, same, full } = this.marks.merge(marks, (mark) => markKey(mark, viewer.space.scale));
        const views = this.views.merge(read.views);
        const more = [same > 0 && t('marks.same', { n: integer(same) }), views > 0 && count(views, 'saved view'), flat.found > 0 && t('marks.heights', { n: integer(flat.found) }), words];
        this.status.say(`${[t('marks.read', { n: integer(added), name }), ...more].filter(Boolean).join('; ')}.`);
        if (note) this.status.error(`${name}: ${note}`);
        const lost = [reasons, full > 0 && t('marks.full', { n: integer(full) }), flat.lost > 0 && t('marks.outside', { n: integer(flat.lost) })].filter(Boolean).join(', ');
        if (lost) this.status.error(`${name}: ${loud(reasons || full > 0 ? t('left.out') : '')} ${lost}.`.replace(':  ', ': '));
        return added;
    }

    // How coordinates of a file become those of the data set.
    async placing(read) {
        const meta = this.viewer.space;
        const corners = cornersOf(read);
        const other = parseCrs(read.system);
        const own = parseCrs(meta.projection);
        const isDegrees = read.system === 'WGS84' ? !meta.isLonLat : read.system === '' && looksLikeDegrees(corners, meta);
        const isOther = other && own && read.system !== meta.projection && (other.code && own.code ? other.code !== own.code : other.name !== own.name);
        if (isDegrees) return { place: await bridge('WGS84', meta), words: t('marks.degrees') };
        if (isOther && other.code) return { place: await bridge(read.system, meta), words: t('marks.system', { code: other.code }) };
        return { place: (p) => p, words: '', note: isOther ? t('marks.other', { own: own.name || own.code, other: other.name || read.system }) : '' };
    }

    // Heights of the points that are drawn, for corners without one.
    heights(read, place, flat) {
        return this.heightsOf(cornersOf(read).map((p) => place([p[0], p[1], 0])), flat);
    }

    // A function (x, y) -> height, for places in and around these; flat: counts which were found and which lost.
    heightsOf(places, flat) {
        const { viewer } = this;
        const { axis } = upAxis(viewer.settings.up);
        const { origin, stretch, box } = viewer.space;
        const corners = places.map((p) => viewer.toLocal([p[0], p[1], 0]));
        const [min, max] = [Math.min, Math.max].map((f) => [0, 1].map((k) => corners.reduce((m, p) => f(m, p[k]), corners[0][k])));
        const margin = Math.max(max[0] - min[0], max[1] - min[1], viewer.camera.sceneSize * 1e-3) * 0.05;
        const reach = { min: [min[0] - margin, min[1] - margin, -Infinity], max: [max[0] + margin, max[1] + margin, Infinity] };
        const at = axis === 2 ? heightsOver(viewer.drawnPoints(reach), reach.min, reach.max) : () => null;
        flat.found = flat.lost = 0;
        return (x, y) => {
            const [u, v] = viewer.toLocal([x, y, 0]);
            const height = at(u, v);
            if (height === null) flat.lost++;
            else flat.found++;
            return height === null ? box.min[2] : height / stretch[2] + origin[2];
        };
    }
}
