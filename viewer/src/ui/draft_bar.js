// What can be done with a draft, as buttons for mouse and finger: they stand beside the picture's foot while a tool is chosen.
import { KINDS } from '../measure/marks.js';
import { t } from '../texts/texts.js';
import { element } from './element.js';

export class DraftBar {
    // tools: what finishes, takes back and puts down
    constructor(tools) {
        this.tools = tools;
        const button = (key, does) => {
            const e = element('button', { textContent: t(key), title: t(`${key}.title`) });
            e.addEventListener('click', () => {
                does();
                tools.viewer.canvas.focus({ preventScroll: true });
            });
            return e;
        };
        this.count = element('span');
        this.done = button('draft.done', () => tools.finish());
        this.undo = button('draft.undo', () => tools.undo());
        this.box = element('div', { id: 'draft', hidden: true }, this.count, this.undo, this.done, button('draft.end', () => tools.putDown()));
        this.box.setAttribute('role', 'group');
        this.box.setAttribute('aria-label', t('draft'));
        document.getElementById('foot').prepend(this.box);
    }

    show() {
        const { kind, points } = this.tools;
        this.box.hidden = !kind;
        if (!kind) return;
        const { min, max } = KINDS[kind];
        this.count.textContent = max === Infinity ? t('draft.points', { n: points.length }) : t('draft.of', { n: points.length, max });
        this.undo.hidden = max === 1;
        this.undo.disabled = points.length === 0;
        this.done.hidden = max !== Infinity;
        this.done.disabled = points.length < min;
    }
}
