// The list of classes with their colours: what is ticked is shown.
import { className, classColour, cssColour } from '../view/palettes.js';
import { element } from './element.js';
import { short } from './format.js';

export class ClassList {
    constructor(viewer) {
        this.viewer = viewer;
        this.rows = new Map(); // code -> { label, box, number }
        this.list = element('div', { className: 'classes' });
        viewer.addEventListener('active', () => {
            this.rows.clear();
            this.list.replaceChildren();
        });
    }

    // The classes known now, and which of them are shown. Rows stay where they are, so that the keyboard's focus does.
    update() {
        const { filter } = this.viewer;
        const codes = [...filter.codes].sort((a, b) => a - b);
        if (codes.some((code) => !this.rows.has(code))) {
            for (const code of codes) if (!this.rows.has(code)) this.rows.set(code, this.row(code));
            this.list.replaceChildren(...codes.map((code) => this.rows.get(code).label));
        }
        for (const [code, { box, number }] of this.rows) {
            const points = filter.counts?.[code];
            box.checked = !filter.hidden.has(code);
            number.textContent = points > 0 ? short(points) : '';
        }
    }

    row(code) {
        const { viewer } = this;
        const box = element('input', { type: 'checkbox' });
        box.addEventListener('change', () => {
            const hidden = new Set(viewer.filter.hidden);
            if (box.checked) hidden.delete(code);
            else hidden.add(code);
            viewer.hideClasses(hidden);
        });
        const swatch = element('i');
        swatch.style.background = cssColour(classColour(code));
        const number = element('span', { className: 'number' });
        return { box, number, label: element('label', {}, box, swatch, element('span', { textContent: `${code}  ${className(code)}` }), number) };
    }
}
