// Maps with the cloud: vectors of GeoJSON and GeoPackage files, draped over the points, and a basemap of an address that the user gives. The
// page asks no server for a map by itself.
import { placesOf } from '../data/places.js';
import { vectorsText } from '../data/vectors.js';
import { cornersOf, hasFlat, readGeoJson } from '../measure/geojson.js';
import { disposeTile, tileMesh, tilesOver } from '../view/basemap.js';
import { cssColour, labelColour } from '../view/palettes.js';
import { upAxis } from '../view/up_axis.js';
import { element } from './element.js';
import { count } from './format.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const MAX_CORNERS = 200000;
const PARTS = 300; // of the extent: how long pieces of a draped line are at most
const DRAPE_MS = 1200; // after the last frame: finer points may have come
const MAX_LAYERS = 20;

export class Overlays {
    // files: MarksFiles, which knows systems and heights
    constructor(viewer, files, status) {
        Object.assign(this, { viewer, files, status });
        this.layers = []; // { name, paths: [[x, y, z or null] of the data set], colour, isShown, isFlat, features }
        this.tiles = [];
        $('overlay-add').addEventListener('click', () => $('overlay-file').click());
        $('overlay-file').addEventListener('change', ({ target }) => {
            const chosen = [...target.files];
            target.value = '';
            for (const file of chosen) this.add(file);
        });
        $('basemap-form').addEventListener('submit', (event) => {
            event.preventDefault();
            this.setBasemap($('basemap').value.trim());
        });
        viewer.addEventListener('frame', () => this.later());
        viewer.addEventListener('opened', () => ($('overlays-section').hidden = false));
    }

    // ---- vectors
    async add(file) {
        try {
            if (this.layers.length >= MAX_LAYERS) throw new Error(t('maps.full', { n: MAX_LAYERS }));
            const read = readGeoJson(await vectorsText(file));
            const corners = cornersOf(read).length;
            if (corners === 0) throw new Error(t('maps.empty') + (String(read.reasons) ? `: ${read.reasons}` : ''));
            if (corners > MAX_CORNERS) throw new Error(t('maps.many', { corners: count(corners, 'corner'), most: count(MAX_CORNERS, 'corner') }));
            const { place, words, note } = await this.files.placing(read);
            if (note) this.status.error(`${file.name}: ${note}`);
            this.layers.push({ name: file.name, ...this.pathsOf(read, place), colour: labelColour(this.layers.length), isShown: true, isFlat: hasFlat(read) });
            this.drape();
            this.draw();
            this.status.say(`${[count(read.items.length, 'shape'), words].filter(Boolean).join('; ')}: ${file.name}.`);
            if (String(read.reasons)) this.status.error(`${file.name}: ${t('left.out')} ${read.reasons}.`);
        } catch (error) {
            this.status.error(t('maps.failed', { name: file.name, why: error.message }));
        }
    }

    pathsOf({ items }, place) {
        const moved = (p) => {
            const at = place([p[0], p[1], p[2] ?? 0]);
            return [at[0], at[1], p[2] === null ? null : at[2]];
        };
        const closed = (ring) => [...ring, ring[0]];
        const paths = items.filter(({ points }) => Array.isArray(points)).flatMap(({ kind, points, holes = [] }) => (/^(area|volume|plane)$/.test(kind) ? [closed(points), ...holes.map(closed)] : [points]));
        return { paths: paths.map((path) => path.map(moved)), features: items.length };
    }

    later() {
        clearTimeout(this.timer);
        const { draw } = this.viewer.selection ?? {};
        if (!this.layers.some(({ isFlat }) => isFlat) || draw?.length === this.drapedOn) return;
        this.timer = setTimeout(() => !this.viewer.busy && this.drape(), DRAPE_MS);
    }

    // Gives all that is shown to the renderer, with heights of the points that are drawn.
    drape() {
        const { viewer } = this;
        this.drapedOn = viewer.selection?.draw.length;
        const shown = this.layers.filter(({ isShown }) => isShown);
        const { axis } = upAxis(viewer.settings.up);
        const step = Math.hypot(...viewer.box.max.map((m, i) => (i === axis ? 0 : m - viewer.box.min[i]))) / PARTS;
        viewer.setVectors(shown.map((layer) => ({ colour: layer.colour, segments: this.segmentsOf(layer, step) })));
    }

    segmentsOf({ paths, isFlat }, step) {
        const { viewer, files } = this;
        const { meta } = viewer.dataset;
        const flat = {};
        const heightAt = isFlat ? files.heightsOf(paths.flat(), flat) : null;
        const out = [];
        const push = (p) => out.push(...viewer.toLocal([p[0], p[1], p[2] ?? heightAt(p[0], p[1])]));
        for (const path of paths) {
            if (path.length === 1) [path[0], path[0]].forEach(push);
            for (let i = 1; i < path.length; i++) {
                const [a, b] = [path[i - 1], path[i]];
                const length = Math.hypot(...[0, 1].map((k) => (b[k] - a[k]) * meta.stretch[k]));
                const parts = a[2] === null || b[2] === null ? Math.min(PARTS, Math.max(1, Math.ceil(length / step))) : 1;
                const at = (t) => [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), parts > 1 || a[2] === null ? (t === 0 ? a[2] : t === 1 ? b[2] : null) : a[2] + t * (b[2] - a[2])];
                for (let k = 0; k < parts; k++) [at(k / parts), at((k + 1) / parts)].forEach(push);
            }
        }
        return out;
    }

    draw() {
        $('overlays').replaceChildren(...this.layers.map((layer, index) => this.row(layer, index)));
        $('overlays').hidden = this.layers.length === 0;
    }

    row(layer, index) {
        const box = element('input', { type: 'checkbox', checked: layer.isShown });
        box.addEventListener('change', () => {
            layer.isShown = box.checked;
            this.drape();
        });
        const swatch = element('i');
        swatch.style.background = cssColour(layer.colour);
        const remove = element('button', { className: 'remove', textContent: '×', title: t('marks.remove') });
        remove.setAttribute('aria-label', t('view.remove.of', { name: layer.name }));
        remove.addEventListener('click', () => {
            this.layers.splice(index, 1);
            this.drape();
            this.draw();
        });
        return element('li', { className: 'filter-head classes' }, element('label', {}, box, swatch, element('span', { textContent: layer.name })), remove);
    }

    // ---- the basemap
    async setBasemap(template) {
        this.viewer.setFloor([]);
        this.tiles.forEach(disposeTile);
        this.tiles = [];
        $('basemap-told').textContent = '';
        if (!template) return;
        try {
            await this.loadBasemap(template);
        } catch (error) {
            this.status.error(t('maps.map', { why: error.message }));
        }
    }

    async loadBasemap(template) {
        const { viewer } = this;
        const { meta } = viewer.clouds[0].dataset;
        if (!['{z}', '{x}', '{y}'].every((part) => template.includes(part))) throw new Error(t('maps.address', { z: '{z}', x: '{x}', y: '{y}' }));
        const addressOf = ({ zoom, x, y }) => new URL(template.replaceAll('{z}', zoom).replaceAll('{x}', x).replaceAll('{y}', y), location.href);
        const example = addressOf({ zoom: 0, x: 0, y: 0 });
        if (!/^https?:$/.test(example.protocol)) throw new Error(t('maps.web'));
        if (viewer.settings.up !== 'z') throw new Error(t('maps.level'));
        const places = await placesOf(meta);
        const { min, max } = meta.rest ?? meta.box;
        const ground = min[2];
        const around = [0, 0.5, 1].flatMap((u) => [0, 0.5, 1].map((v) => places.toWgs84([min[0] + u * (max[0] - min[0]), min[1] + v * (max[1] - min[1]), ground]).slice(0, 2)));
        const toDrawn = (p) => viewer.clouds[0].toLocal([...places.fromWgs84([...p, 0]).slice(0, 2), ground]);
        const wanted = tilesOver(around);
        let failed = 0;
        const meshes = await Promise.all(wanted.map(async (tile) => {
            try {
                const answer = await fetch(addressOf(tile), { credentials: 'omit', referrerPolicy: 'strict-origin-when-cross-origin' });
                if (!answer.ok) throw new Error();
                return tileMesh(tile, await createImageBitmap(await answer.blob()), toDrawn);
            } catch {
                failed++;
                return null;
            }
        }));
        this.tiles = meshes.filter(Boolean);
        if (this.tiles.length === 0) throw new Error(t('maps.none', { origin: example.origin, n: wanted.length }));
        viewer.setFloor(this.tiles);
        $('basemap-told').textContent = t('maps.of', { host: example.hostname }) + (failed > 0 ? ` ${t('maps.missing', { pictures: count(failed, 'picture') })}` : '');
    }
}
