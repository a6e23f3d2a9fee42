// How long a length is in the picture: a bar in the status line, of a round length in the unit that figures are shown in. In
// perspective it holds for what is as far away as the middle of the view.
import { drawnMetres, shown } from '../measure/units.js';
import { t } from '../texts/texts.js';
import { element } from './element.js';
import { plain } from './format.js';

const LONGEST = 110; // pixels

// The largest of 1, 2 and 5 and their tens that is no more than this.
export function roundLength(most) {
    const power = 10 ** Math.floor(Math.log10(most));
    return [5, 2, 1].map((f) => f * power).find((length) => length <= most * (1 + 1e-9)) ?? power;
}

export class ScaleBar {
    constructor(viewer) {
        this.viewer = viewer;
        this.text = element('span');
        this.bar = element('i');
        this.box = element('span', { id: 's-scale', title: t('scale.title'), hidden: true }, this.bar, this.text);
        document.getElementById('status').prepend(this.box);
        for (const type of ['frame', 'settings']) viewer.addEventListener(type, () => this.draw());
    }

    draw() {
        const { camera, canvas, space, settings } = this.viewer;
        if (!space || !(canvas.clientHeight > 0)) return;
        const pixel = camera.unitsPerPixel(camera.distance, canvas.clientHeight);
        const { value: size, unit } = shown(pixel, drawnMetres(space, settings.coordinates), settings.units);
        const length = roundLength(LONGEST * size);
        this.box.hidden = !(length > 0 && Number.isFinite(length));
        this.bar.style.width = `${(length / size).toFixed(1)}px`;
        this.text.textContent = `${plain(length)}${unit ? `\u00a0${unit}` : ''}`;
    }
}
