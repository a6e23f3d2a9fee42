// The list of filters: a range of any attribute, and which returns; each is taken away by itself.
import { histogram } from '../view/histogram.js';
import { expressionOf, parseExpression } from '../view/filter_expression.js';
import { RETURNS } from '../view/point_filter.js';
import { upAxis } from '../view/up_axis.js';
import { element } from './element.js';
import { channelText, value } from './format.js';
import { RangeHistogram } from './range_histogram.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const returnWords = (returns) => t(`returns.${returns}`);
const REDRAW_MS = 500; // histograms follow what is loaded, not each node

export class Filters {
    constructor(viewer) {
        this.viewer = viewer;
        this.rows = new Map(); // name -> { box, chart, low, high }
        this.samples = new Map(); // name -> { full, shares }
        for (const type of ['opened', 'modes']) viewer.addEventListener(type, () => this.fillChoice());
        viewer.addEventListener('active', () => {
            this.rows.clear();
            this.samples.clear();
        });
        viewer.addEventListener('filters', () => this.update());
        viewer.addEventListener('frame', () => this.follow());
        $('filter-add').addEventListener('change', (e) => this.add(e.target.value));
        $('filters-none').addEventListener('click', () => viewer.clearFilters());
        viewer.addEventListener('classes', () => this.showExpression());
        $('filter-expression').addEventListener('change', (e) => this.take(e.target));
        $('filter-expression').addEventListener('input', (e) => e.target.setCustomValidity(''));
    }

    showExpression() {
        const field = $('filter-expression');
        const { filter, settings } = this.viewer;
        if (filter && document.activeElement !== field) field.value = expressionOf(filter, upAxis(settings.up));
    }

    // Sets the filters that an expression means, or says why there are none.
    take(field) {
        const { viewer } = this;
        const names = this.modes.map(({ name }) => name).filter((name) => name !== 'height');
        let meant;
        try {
            meant = parseExpression(field.value, names, upAxis(viewer.settings.up));
        } catch (error) {
            field.setCustomValidity(error.message);
            field.reportValidity();
            return;
        }
        field.setCustomValidity('');
        viewer.clearFilters();
        viewer.hideClasses(meant.isShown ? [...Array(256).keys()].filter((code) => !meant.isShown(code)) : []);
        if (meant.returns) viewer.setReturns(meant.returns);
        for (const [name, [low, high]] of meant.ranges) {
            const [least, largest] = viewer.domainOf(this.modes.find((mode) => mode.name === name));
            viewer.setFilter(name, [Number.isFinite(low) ? low : Math.min(least, high), Number.isFinite(high) ? high : Math.max(largest, low)]);
        }
    }

    get modes() {
        return this.viewer.modes.filter(({ kind, name }) => kind === 'ramp' || kind === 'labels' || name === 'height');
    }

    fillChoice() {
        const { viewer } = this;
        const choices = this.modes.map((mode) => new Option(mode.label, mode.name));
        const returns = viewer.filter.returnChannels ? RETURNS.map((r) => new Option(returnWords(r), `returns=${r}`)) : [];
        $('filter-add').replaceChildren(new Option(t('filter.add'), ''), ...returns, ...choices);
    }

    add(name) {
        const { viewer } = this;
        $('filter-add').value = '';
        if (name.startsWith('returns=')) return viewer.setReturns(name.slice(8));
        const mode = this.modes.find((m) => m.name === name);
        if (mode && !viewer.filter.ranges.has(name)) viewer.setFilter(name, viewer.domainOf(mode));
    }

    follow() {
        if (this.rows.size === 0 || this.timer) return;
        this.timer = setTimeout(() => {
            this.timer = null;
            this.samples.clear();
            this.update();
        }, REDRAW_MS);
    }

    // The full range of an attribute and its histogram, of the coarsest nodes.
    sampleOf(mode) {
        if (!this.samples.has(mode.name)) {
            const full = this.viewer.domainOf(mode);
            const values = this.viewer.sampleOf(mode);
            this.samples.set(mode.name, { full, shares: values.length > 0 ? histogram(values, full) : null });
        }
        return this.samples.get(mode.name);
    }

    update() {
        const { filter } = this.viewer;
        for (const name of [...this.rows.keys()]) if (!filter.ranges.has(name)) this.rows.delete(name);
        for (const name of filter.ranges.keys()) if (!this.rows.has(name)) this.rows.set(name, this.row(name));
        const list = [...this.rows.values()].map(({ box }) => box);
        if (filter.returns) list.unshift(this.returnsRow(filter.returns));
        const shown = [...$('filters').children];
        if (shown.length !== list.length || shown.some((e, i) => e !== list[i])) $('filters').replaceChildren(...list);
        $('filters-none').hidden = list.length === 0;
        for (const [name, row] of this.rows) this.show(name, row);
        this.showExpression();
    }

    header(title, remove) {
        const close = element('button', { className: 'remove', textContent: '×', title: t('filter.remove') });
        close.setAttribute('aria-label', t('filter.remove.of', { name: title }));
        close.addEventListener('click', remove);
        return element('div', { className: 'filter-head' }, element('span', { textContent: title }), close);
    }

    returnsRow(returns) {
        return element('div', { className: 'filter' }, this.header(returnWords(returns), () => this.viewer.setReturns(null)));
    }

    row(name) {
        const { viewer } = this;
        const { label } = viewer.modes.find((mode) => mode.name === name);
        const set = (range) => viewer.setFilter(name, range);
        const chart = new RangeHistogram([t('filter.low', { name: label }), t('filter.high', { name: label })], set);
        const [low, high] = ['low', 'high'].map((end) => {
            const field = element('input', { type: 'number', step: 'any' });
            field.setAttribute('aria-label', t(`filter.${end}`, { name: label }));
            field.addEventListener('change', () => {
                const range = [low.valueAsNumber, high.valueAsNumber];
                if (range.every(Number.isFinite)) set(range[0] <= range[1] ? range : range.reverse());
                else this.update();
            });
            return field;
        });
        const box = element('div', { className: 'filter' }, this.header(label, () => viewer.setFilter(name, null)), chart.box, element('span', { className: 'pair' }, low, high));
        return { box, chart, low, high };
    }

    show(name, { chart, low, high }) {
        const mode = this.viewer.modes.find((m) => m.name === name);
        const { range } = this.viewer.filter.ranges.get(name);
        const { full, shares } = this.sampleOf(mode);
        const span = full[1] - full[0];
        chart.show({ full, range, shares, text: (v) => channelText(mode.channel, v, span) });
        if (document.activeElement !== low) low.value = value(range[0], span);
        if (document.activeElement !== high) high.value = value(range[1], span);
    }
}
