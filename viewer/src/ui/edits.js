// Points get other classes: a list of edits that can be taken back one by one. Files stay as they are; the picture shows what
// they would be, and what is saved is a new one, or the list, for `mote convert --edits`.
import { measuringModule } from '../measure/measurer.js';
import { compile } from '../save/selection.js';
import { className } from '../view/palettes.js';
import { element } from './element.js';
import { keep, kept } from './kept.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const MAX_EDITS = 5000;

const isEdit = (f) => f?.type === 'Feature' && Number.isInteger(f.properties?.class) && f.properties.class >= 0 && f.properties.class <= 255 && f.geometry?.type === 'MultiPolygon';

function parseEdits(text) {
    try {
        return JSON.parse(text ?? '[]').filter(isEdit).slice(0, MAX_EDITS);
    } catch {
        return [];
    }
}

export class Edits {
    constructor(viewer) {
        this.viewer = viewer;
        this.lists = new Map(); // cloud -> its edits, in the order in which they are done
        this.own = new WeakMap(); // payload of a node -> { original, ours }: its classes before and after
        viewer.addEventListener('clouds', () => this.load());
        viewer.addEventListener('active', () => this.draw());
        viewer.addEventListener('replaced', ({ detail }) => this.replaced(detail));
        $('edits-undo').addEventListener('click', () => this.change(this.list.slice(0, -1)));
    }

    get list() {
        return this.lists.get(this.viewer.active) ?? [];
    }

    keyOf(cloud) {
        const { name, sourcePoints, box } = cloud.dataset.meta;
        return `edits ${JSON.stringify([name, sourcePoints, box.min, box.max])}`;
    }

    // Those that this browser has kept of clouds that were opened.
    load() {
        for (const cloud of this.viewer.clouds) {
            if (this.lists.has(cloud)) continue;
            this.lists.set(cloud, cloud.filter.channel ? parseEdits(kept(this.keyOf(cloud))) : []);
            if (this.lists.get(cloud).length > 0) this.apply(cloud);
        }
        this.draw();
    }

    // The data set of a cloud is another now: of its points, and perhaps of a box that is a little larger.
    replaced(cloud) {
        const list = this.lists.get(cloud) ?? [];
        if (list.length > 0) return void keep(this.keyOf(cloud), JSON.stringify(list));
        this.lists.delete(cloud);
        this.load();
    }

    add(edit) {
        if (this.list.length < MAX_EDITS) this.change([...this.list, edit]);
    }

    change(list) {
        const cloud = this.viewer.active;
        this.lists.set(cloud, list);
        keep(this.keyOf(cloud), list.length > 0 ? JSON.stringify(list) : null);
        this.apply(cloud);
        this.draw();
    }

    // What was kept may be of another version, or written by hand: then there is no edit.
    async compiled(cloud, list) {
        try {
            return compile({ features: list }, list.length > 0 ? await measuringModule() : null);
        } catch (error) {
            this.viewer.emit('error', t('edit.failed', { why: error.message }));
            this.lists.set(cloud, []);
            this.draw();
            return null;
        }
    }

    // All nodes that are loaded, and those that arrive from now on.
    async apply(cloud) {
        const list = this.lists.get(cloud);
        const compiled = await this.compiled(cloud, list);
        if (this.lists.get(cloud) !== list) return; // it was changed meanwhile
        const { channels } = cloud.dataset.meta;
        cloud.moreChannels = [...channels.filter(({ key }) => compiled.names.some((name) => name.toLowerCase() === key.toLowerCase())), ...(list.length > 0 ? [cloud.filter.channel] : [])];
        cloud.reclassify = (node) => this.classify(cloud, compiled, node);
        cloud.needChannels();
        for (const node of cloud.loader.cache.entries.keys()) {
            if (!node.payload) continue;
            this.classify(cloud, compiled, node);
            cloud.filter.learn(node);
            cloud.points.addNode(node);
        }
        cloud.emit('classes');
        cloud.filterChanged();
    }

    classify(cloud, compiled, node) {
        const { channel } = cloud.filter;
        const { payload } = node;
        const scalar = channel && payload.scalars.get(channel.key);
        if (!scalar) return;
        const known = this.own.get(payload);
        const original = known?.ours === scalar ? known.original : scalar;
        if (compiled.usesClasses || original !== scalar) payload.scalars.set(channel.key, this.classified(cloud, compiled, node, original));
    }

    // The classes of a node after all edits, in place of those that it came with.
    classified(cloud, compiled, node, original) {
        const { payload } = node;
        const { channel } = cloud.filter;
        const values = (name) => {
            const other = cloud.dataset.meta.channels.find(({ key }) => key.toLowerCase() === name.toLowerCase());
            const scalar = other && payload.scalars.get(other.key);
            return scalar ? Array.from(scalar.values, (v) => (v + other.base) * other.scale + other.shift) : null;
        };
        if (!compiled.usesClasses || compiled.names.some((name) => !values(name))) return original; // it comes again with what is missing
        const classes = Uint8Array.from(original.values, (v) => v + channel.base);
        const { position } = payload;
        const place = (i) => cloud.toSource([0, 1, 2].map((k) => position[3 * i + k] + node.min[k]));
        compiled.classify({ count: classes.length, place, values, classes });
        const ours = { ...original, values: original.values.constructor.from(classes, (v) => v - channel.base) };
        this.own.set(payload, { original, ours });
        node.mask = null;
        return ours;
    }

    draw() {
        const { list } = this;
        $('edits').replaceChildren(...list.map((edit, index) => this.row(edit, index)));
        $('edits').hidden = list.length === 0;
        $('edits-buttons').hidden = list.length === 0;
    }

    row(edit, index) {
        const { class: code, text } = edit.properties;
        const name = `${text || t('edit.points')} → ${code} ${className(code)}`;
        const remove = element('button', { className: 'remove', textContent: '×', title: t('edit.back') });
        remove.setAttribute('aria-label', t('edit.back.of', { name }));
        remove.addEventListener('click', () => this.change(this.list.filter((_, i) => i !== index)));
        return element('li', { className: 'filter-head' }, element('span', { textContent: name }), remove);
    }
}
