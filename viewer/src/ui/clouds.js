// The list of clouds: which are shown, which one the panels are about, and one more by its address or from the desktop.
import { dataUrl } from '../data/dataset.js';
import { parseCrs } from '../data/crs.js';
import { element } from './element.js';
import { short } from './format.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const MAX_CLOUDS = 20;

export class Clouds {
    constructor(viewer, status) {
        Object.assign(this, { viewer, status });
        viewer.addEventListener('clouds', () => this.draw());
        $('cloud-form').addEventListener('submit', (event) => {
            event.preventDefault();
            this.add($('cloud-address').value.trim());
        });
    }

    async add(address) {
        if (!address || !this.viewer.clouds[0]?.dataset.root || this.viewer.clouds.length >= MAX_CLOUDS) return null;
        try {
            const cloud = await this.viewer.add(dataUrl(address, location.href));
            $('cloud-address').value = '';
            this.compare(cloud);
            return cloud;
        } catch (error) {
            this.status.error(error.message);
            return null;
        }
    }

    // Clouds are drawn by their numbers: where these mean different things, it is said.
    compare({ dataset }) {
        const [first, own] = [this.viewer.clouds[0].dataset.meta, dataset.meta];
        if (own.isConverted) this.status.say(t('cloud.units', { own: own.name, first: first.name }));
        const [a, b] = [first, own].map(({ projection }) => parseCrs(projection));
        if (a && b && a.name !== b.name) this.status.error(t('cloud.other', { own: own.name, first: first.name, b: b.name || b.code, a: a.name || a.code }));
    }

    draw() {
        const { viewer } = this;
        $('clouds').hidden = $('h-clouds').hidden = viewer.clouds.length < 2;
        $('clouds').replaceChildren(...viewer.clouds.map((cloud, i) => this.row(cloud, i)));
    }

    row(cloud, index) {
        const { viewer } = this;
        const { meta } = cloud.dataset;
        const shown = element('input', { type: 'checkbox', checked: cloud.isShown });
        shown.setAttribute('aria-label', t('cloud.show', { name: meta.name }));
        shown.addEventListener('change', () => viewer.showCloud(cloud, shown.checked));
        const name = element('button', { className: 'name', title: t('cloud.active') }, element('span', { textContent: meta.name }), element('span', { className: 'number', textContent: short(meta.sourcePoints) }));
        name.setAttribute('aria-pressed', String(cloud === viewer.active));
        name.addEventListener('click', () => viewer.activate(cloud));
        const row = element('li', {}, shown, name);
        if (index > 0) {
            const remove = element('button', { className: 'remove', textContent: '×', title: t('cloud.remove') });
            remove.setAttribute('aria-label', t('cloud.remove.of', { name: meta.name }));
            remove.addEventListener('click', () => viewer.remove(cloud));
            row.append(remove);
        }
        return row;
    }
}
