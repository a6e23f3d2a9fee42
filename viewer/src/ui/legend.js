// The legend of the present colours: a ramp with its ends, the classes that occur, or the levels.
import { cssColour, levelColour, rampCss } from '../view/palettes.js';
import { ClassList } from './classes.js';
import { element } from './element.js';
import { heightMetres, shown } from '../measure/units.js';
import { channelText, value } from './format.js';
import { t } from '../texts/texts.js';

const swatch = (colour) => {
    const i = element('i');
    i.style.background = cssColour(colour);
    return i;
};

export class Legend {
    constructor(box, viewer) {
        this.box = box;
        this.viewer = viewer;
        this.classes = new ClassList(viewer);
        this.levels = 0;
        for (const type of ['colours', 'settings']) viewer.addEventListener(type, () => viewer.dataset?.meta && this.draw());
        viewer.addEventListener('classes', () => this.classes.update());
        viewer.addEventListener('frame', () => this.follow());
    }

    // Levels appear in the legend as they appear in the picture.
    follow() {
        if (this.viewer.mode.kind === 'level' && this.viewer.stats().levels !== this.levels) this.draw();
    }

    draw() {
        const { viewer, box } = this;
        const { mode } = viewer;
        box.hidden = mode.kind === 'rgb';
        const title = element('h3', { textContent: mode.label });
        const body = { classes: () => this.classList(), level: () => this.levelList(), ramp: () => this.ramp(), labels: () => this.labels(), normal: () => this.normal() }[mode.kind];
        box.replaceChildren(title, ...(body ? body() : []));
    }

    classList() {
        this.classes.update();
        return [this.classes.list];
    }

    // Ends and middle; what is too long for a line of three, as times are, stands one below the other.
    ramp() {
        const { channel } = this.viewer.mode;
        const [low, high] = this.viewer.range();
        const bar = element('div', { className: 'ramp' });
        bar.style.background = rampCss(this.viewer.settings.ramp);
        const texts = (high > low ? [low, (low + high) / 2, high] : [low]).map((v) => this.text(channel, v, high - low));
        const isLong = texts.some((text) => text.length > 12);
        return [bar, element('div', { className: isLong ? 'ends long' : 'ends' }, ...texts.map((textContent) => element('span', { textContent })))];
    }

    // Heights are figures: in the unit that these are shown in.
    text(channel, v, span) {
        if (channel) return channelText(channel, v, span);
        const { settings, dataset } = this.viewer;
        const { value: height, unit } = shown(v, heightMetres(dataset.meta, settings.coordinates), settings.units);
        return `${value(height, span)}${unit ? `\u00a0${unit}` : ''}`;
    }

    labels() {
        return [element('div', { className: 'entry', textContent: t('legend.labels') })];
    }

    normal() {
        return [['rgb(255, 128, 128)', t('legend.to', { axis: '+x' })], ['rgb(128, 255, 128)', t('legend.to', { axis: '+y' })], ['rgb(128, 128, 255)', t('legend.to', { axis: '+z' })]].map(([colour, textContent]) => {
            const i = element('i');
            i.style.background = colour;
            return element('div', { className: 'entry' }, i, element('span', { textContent }));
        });
    }

    levelList() {
        this.levels = this.viewer.stats().levels;
        return [...Array(this.levels).keys()].map((level) =>
            element('div', { className: 'entry' }, swatch(levelColour(level)), element('span', { textContent: t('legend.level', { level }) })));
    }
}
