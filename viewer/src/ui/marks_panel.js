// The list of marks and clip boxes in the panel: their figures, texts, and what can be done with them.
import { figureText } from '../measure/figures.js';
import { element } from './element.js';
import { integer, namedCoordinates } from './format.js';
import { clipBoxOf } from './overlay.js';
import { surveyLine } from './survey_line.js';
import { has, t } from '../texts/texts.js';
import { toolName } from './tools.js';

const $ = (id) => document.getElementById(id);
const kindName = (kind) => (kind === 'plane' ? t('kind.plane') : toolName(kind));
// 'segment 2' has a number; of planes and other files there may be names without a text.
const figureName = (name) => (has(`figure.${name}`) ? t(`figure.${name}`) : name.replace(/^segment (\d+)$/, (_, n) => t('figure.segment', { n })));
const ROWS = 100; // at a time: the panel stays quick with ten thousand marks
const REDRAW_MS = 400;

export class MarksPanel {
    // actions: { open(mark): shows the profile or the attributes of a mark, or measures over a plane; volume(mark): of an area, where volumes are measured }
    constructor(viewer, marks, overlay, status, actions) {
        Object.assign(this, { viewer, marks, overlay, status, actions });
        this.rows = new Map(); // id -> { row, figures, title }, of those shown in the panel
        this.shown = ROWS;
        overlay.told = (mark) => this.tell(mark);
        marks.addEventListener('change', () => this.changed());
        viewer.addEventListener('opened', () => this.draw());
        for (const type of ['filters', 'clouds', 'settings', 'colours']) viewer.addEventListener(type, () => this.later());
        viewer.survey.addEventListener('change', () => this.draw());
        $('marks-more').addEventListener('click', () => {
            this.shown += ROWS;
            this.draw();
        });
        $('marks-copy').addEventListener('click', () => this.copy());
        $('marks-none').addEventListener('click', () => marks.replace([]));
        $('marks-undo').addEventListener('click', () => marks.undo());
    }

    changed() {
        const { viewer, marks } = this;
        const boxes = marks.boxes.map((mark) => clipBoxOf(viewer, mark));
        const text = JSON.stringify(boxes);
        if (text !== this.boxes) viewer.setClipBoxes(boxes);
        this.boxes = text;
        this.draw();
        viewer.invalidate();
    }

    // Figures follow filters, clouds and units.
    later() {
        if (this.rows.size === 0) return;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.draw(), REDRAW_MS);
    }

    draw() {
        const { marks } = this;
        const list = this.inPanel();
        const ids = new Set(list.map(({ id }) => id));
        this.viewer.survey.keep(new Set(marks.list.map(({ id }) => id)));
        for (const id of this.rows.keys()) if (!ids.has(id)) this.rows.delete(id);
        for (const mark of list) if (!this.rows.has(mark.id)) this.rows.set(mark.id, this.row(mark));
        const wanted = list.map(({ id }) => this.rows.get(id).row);
        const shown = [...$('marks').children];
        if (shown.length !== wanted.length || shown.some((e, i) => e !== wanted[i])) $('marks').replaceChildren(...wanted);
        for (const mark of list) this.fill(mark, this.rows.get(mark.id));
        const earlier = marks.list.length - list.length;
        $('marks-more').hidden = earlier === 0;
        $('marks-more').textContent = t('marks.more', { n: integer(Math.min(ROWS, earlier)), all: integer(earlier) });
        $('marks-section').hidden = false;
        $('marks-undo').disabled = marks.past.length === 0;
        for (const id of ['marks-save', 'marks-copy', 'marks-none']) $(id).disabled = marks.list.length === 0;
    }

    // The newest ones; a click shows more of those before.
    inPanel() {
        return this.marks.list.slice(-this.shown);
    }

    row(mark) {
        const { id, kind } = mark;
        const text = element('input', { type: 'text', maxLength: 2000, placeholder: kind === 'plane' ? `${kindName(kind)} ${mark.number}` : kindName(kind) });
        text.setAttribute('aria-label', t('mark.text', { kind: kindName(kind) }));
        text.addEventListener('change', () => this.marks.alter(id, (m) => (m.text = text.value)));
        const remove = element('button', { className: 'remove', textContent: '×', title: t('marks.remove') });
        remove.setAttribute('aria-label', t('mark.remove', { kind: kindName(kind) }));
        remove.addEventListener('click', () => this.marks.remove(id));
        const figures = element('dl');
        const row = element('li', { className: `mark-row ${kind}` }, element('div', { className: 'filter-head' }, text, remove), figures);
        const survey = kind === 'volume' ? surveyLine(this.viewer.survey, id) : null;
        if (survey) row.append(survey.line);
        const more = this.more(id, kind);
        if (more) row.append(more);
        return { row, figures, text, survey };
    }

    more(id, kind) {
        if (kind === 'clip') {
            const inside = element('select');
            inside.setAttribute('aria-label', t('box.does'));
            inside.append(new Option(t('box.in'), 'in'), new Option(t('box.out'), 'out'));
            inside.addEventListener('change', () => this.marks.alter(id, (m) => (m.inside = inside.value === 'in')));
            return inside;
        }
        if (kind === 'volume') {
            const base = element('select', { className: 'base' });
            base.setAttribute('aria-label', t('volume.base'));
            base.append(new Option(t('volume.plane'), 'plane'), new Option(t('volume.lowest'), 'lowest'));
            base.addEventListener('change', () => this.marks.alter(id, (m) => (base.value === 'lowest' ? (m.base = 'lowest') : delete m.base)));
            return base;
        }
        const does = kind === 'area' ? this.actions.volume : ['profile', 'point', 'plane'].includes(kind) && this.actions.open;
        if (!does) return null;
        const open = element('button', { textContent: t(`mark.open.${kind}`) });
        open.addEventListener('click', () => does(this.marks.list.find((m) => m.id === id)));
        return open;
    }

    // The figures of a mark that was clicked, in words; its row comes into view.
    tell(mark) {
        if (!this.rows.has(mark.id)) {
            this.shown = this.marks.list.length - this.marks.list.findIndex(({ id }) => id === mark.id);
            this.draw();
        }
        this.rows.get(mark.id)?.row.scrollIntoView({ block: 'nearest' });
        this.status.say([mark.text || `${kindName(mark.kind)} ${mark.number}`, ...this.linesOf(mark).map(([name, v]) => `${name} ${v}`)].join(' · '));
    }

    linesOf(mark) {
        const meta = this.viewer.space;
        const lines = Object.entries(this.overlay.figuresOf(mark)).map(([name, v]) => [figureName(name), figureText(name, v, meta, this.viewer.settings)]);
        if (mark.kind === 'point' || mark.kind === 'note') namedCoordinates(mark.points[0], meta, this.viewer.settings.coordinates).slice(0, mark.flat ? 2 : 3).forEach((c, i) => lines.push(['xyz'[i], c]));
        return lines;
    }

    fill(mark, { row, figures, text, survey }) {
        survey?.show(mark);
        const lines = this.linesOf(mark);
        const key = JSON.stringify(lines);
        if (figures.dataset.key !== key) {
            figures.dataset.key = key;
            figures.replaceChildren(...lines.flatMap(([name, v]) => [element('dt', { textContent: name }), element('dd', { textContent: v })]));
        }
        if (document.activeElement !== text) text.value = mark.text;
        const choice = row.querySelector(':scope > select');
        if (choice) choice.value = mark.kind === 'volume' ? mark.base ?? 'plane' : mark.inside ? 'in' : 'out';
    }

    // All figures as text, a line each.
    text() {
        return this.marks.list.map((mark) => [mark.text || kindName(mark.kind), ...this.linesOf(mark).map(([name, v]) => `${name} ${v}`)].join('\t')).join('\n');
    }

    async copy() {
        try {
            await navigator.clipboard.writeText(this.text());
            this.status.say(t('marks.copied'));
        } catch {
            this.status.error(t('copy.not'));
        }
    }
}
