// The legend of the present colours: a ramp with its ends, the classes that occur, or the levels.
import { className, classColour, cssColour, levelColour, rampCss } from '../view/palettes.js';
import { value } from './format.js';

function element(tag, properties = {}, ...children) {
    const e = Object.assign(document.createElement(tag), properties);
    e.append(...children);
    return e;
}

const swatch = (colour) => {
    const i = element('i');
    i.style.background = cssColour(colour);
    return i;
};

export class Legend {
    constructor(box, viewer) {
        this.box = box;
        this.viewer = viewer;
        this.codes = new Set(); // classes seen so far
        this.levels = 0;
        viewer.addEventListener('colours', () => this.draw());
        viewer.addEventListener('frame', () => this.follow());
    }

    // Classes and levels appear in the legend as they appear in the picture.
    follow() {
        const { mode } = this.viewer;
        if (mode.kind === 'classes' && this.collectClasses(mode.channel)) this.draw();
        if (mode.kind === 'level' && this.viewer.stats().levels !== this.levels) this.draw();
    }

    collectClasses(channel) {
        const before = this.codes.size;
        for (const node of this.viewer.selection.draw) {
            const scalar = node.payload.scalars.get(channel.key);
            if (!scalar || scalar.seen) continue;
            scalar.seen = true;
            for (const code of scalar.values) this.codes.add(code);
        }
        return this.codes.size !== before;
    }

    draw() {
        const { viewer, box } = this;
        const { mode } = viewer;
        box.hidden = mode.kind === 'rgb';
        const title = element('h3', { textContent: mode.label });
        const body = { classes: () => this.classes(), level: () => this.levelList(), ramp: () => this.ramp() }[mode.kind];
        box.replaceChildren(title, ...(body ? body() : []));
    }

    ramp() {
        const [low, high] = this.viewer.range();
        const bar = element('div', { className: 'ramp' });
        bar.style.background = rampCss(this.viewer.settings.ramp);
        const end = (v) => element('span', { textContent: value(v, high - low) });
        return [bar, element('div', { className: 'ends' }, end(low), end((low + high) / 2), end(high))];
    }

    classes() {
        const { viewer } = this;
        return [...this.codes].sort((a, b) => a - b).map((code) => {
            const box = element('input', { type: 'checkbox', checked: !viewer.hiddenClasses.has(code) });
            box.addEventListener('change', () => {
                if (box.checked) viewer.hiddenClasses.delete(code);
                else viewer.hiddenClasses.add(code);
                viewer.applyColours();
            });
            return element('label', {}, box, swatch(classColour(code)), element('span', { textContent: `${code}  ${className(code)}` }));
        });
    }

    levelList() {
        this.levels = this.viewer.stats().levels;
        return [...Array(this.levels).keys()].map((level) =>
            element('div', { className: 'entry' }, swatch(levelColour(level)), element('span', { textContent: `Level ${level}` })));
    }
}
