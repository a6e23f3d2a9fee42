// What figures are shown in, and what coordinates count in where the file does not say it.
import { SHOWN_UNITS, unitName, unitsOf, unitWord } from '../measure/units.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);

export class Units {
    constructor(viewer) {
        this.viewer = viewer;
        for (const id of ['units', 'coordinates']) $(id).addEventListener('change', () => viewer.configure({ [id]: $(id).value }));
        for (const type of ['opened', 'active', 'settings']) viewer.addEventListener(type, () => this.draw());
    }

    // What figures take for granted.
    note({ metres, radians, vertical }) {
        const isTaken = (metres > 0 || radians > 0) && !vertical;
        $('units-note').hidden = !isTaken;
        $('units-note').textContent = isTaken ? t('units.taken', { unit: radians ? 'm' : unitName(metres) }) : '';
    }

    draw() {
        const { settings, dataset } = this.viewer;
        if (!dataset?.meta) return;
        const { metres } = unitsOf(dataset.meta);
        this.note(unitsOf(dataset.meta, settings.coordinates));
        const own = dataset.meta.isLonLat ? 'm' : unitName(metres);
        const words = (key) => unitWord(key) + (key === 'file' && own ? ` (${own})` : '');
        $('units').replaceChildren(...Object.keys(SHOWN_UNITS).map((key) => new Option(words(key), key)));
        $('units').value = settings.units;
        const isUnknown = !dataset.meta.isLonLat && !metres;
        $('coordinates-row').hidden = !isUnknown && settings.coordinates === 'file';
        $('coordinates').replaceChildren(...Object.keys(SHOWN_UNITS).map((key) => new Option(key === 'file' ? t('units.unknown') : unitWord(key), key)));
        $('coordinates').value = settings.coordinates;
        $('units').disabled = isUnknown && settings.coordinates === 'file';
    }
}
