// The settings panel: each control changes one setting, and follows when the setting changes elsewhere.
import { RAMPS } from '../view/palettes.js';
import { quantileRange } from '../view/colouring.js';
import { UP_AXES, upName } from '../view/up_axis.js';
import { BACKGROUNDS, SIZINGS, THEMES } from '../view/settings.js';
import { cssColour, rampColour } from '../view/palettes.js';
import { histogram } from '../view/histogram.js';
import { ClassList } from './classes.js';
import { RangeHistogram } from './range_histogram.js';
import { channelText, plain, short, value } from './format.js';
import { has, t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);

// Sliders run 0..100; budgets and errors are felt as factors, so they stand on a logarithmic scale.
const logScale = (low, high) => ({
    toValue: (t) => low * (high / low) ** (t / 100),
    toSlider: (v) => (100 * Math.log(v / low)) / Math.log(high / low),
});
const BUDGET = logScale(1e5, 2e7);
const ERROR = logScale(8, 0.35); // to the right is finer

const MAX_SHORT_DIGITS = 8; // two numbers of so many digits stand side by side

const TONES = ['brightness', 'contrast', 'gamma'];

const capital = (word) => word[0].toUpperCase() + word.slice(1);
const twoDigits = (n) => Number(n.toPrecision(2));

export class Panel {
    constructor(viewer) {
        this.viewer = viewer;
        this.bindColour();
        this.bindPoints();
        this.bindView();
        this.bindClasses();
        viewer.addEventListener('opened', () => this.fillModes());
        viewer.addEventListener('modes', () => this.fillModes());
        viewer.addEventListener('settings', () => this.showSettings());
        viewer.addEventListener('colours', () => this.showColours());
        this.showSettings();
    }

    bindColour() {
        const { viewer } = this;
        $('ramp').append(...RAMPS.map((name) => new Option(has(`word.${name}`) ? t(`word.${name}`) : capital(name), name)));
        $('mode').addEventListener('change', (e) => viewer.setMode(e.target.value));
        $('ramp').addEventListener('change', (e) => viewer.configure({ ramp: e.target.value }));
        const range = () => {
            const [low, high] = [$('low').valueAsNumber, $('high').valueAsNumber];
            if (Number.isFinite(low) && Number.isFinite(high)) viewer.setRange([low, high]);
            else this.showColours();
        };
        this.chart = new RangeHistogram([t('page.lowest-value-of-the'), t('page.highest-value-of-the')], (r) => viewer.setRange(r));
        $('range-chart').append(this.chart.box);
        this.sampled = null; // the mode whose histogram is shown
        viewer.addEventListener('frame', () => this.followSample());
        $('low').addEventListener('change', range);
        $('high').addEventListener('change', range);
        $('range-full').addEventListener('click', () => viewer.setRange(viewer.fullRange()));
        $('range-clip').addEventListener('click', () => viewer.setRange(this.clippedRange()));
    }

    // Percentiles of what is shown.
    clippedRange() {
        const { viewer } = this;
        return quantileRange(viewer.sampleOf(viewer.mode, false)) ?? viewer.fullRange();
    }

    // Shown where there is more than one class to choose from, whatever the colours.
    bindClasses() {
        const { viewer } = this;
        const classes = new ClassList(viewer);
        $('classes').append(classes.list);
        const show = () => {
            classes.update();
            $('class-section').hidden = viewer.filter.codes.size < 2;
        };
        viewer.addEventListener('opened', show);
        viewer.addEventListener('active', show);
        viewer.addEventListener('classes', show);
        $('classes-all').addEventListener('click', () => viewer.hideClasses([]));
        $('classes-none').addEventListener('click', () => viewer.hideClasses(viewer.filter.codes));
    }

    bindPoints() {
        const { viewer } = this;
        const slider = (id, change) => $(id).addEventListener('input', (e) => viewer.configure(change(e.target.valueAsNumber)));
        slider('budget', (t) => ({ budget: twoDigits(BUDGET.toValue(t)) }));
        slider('error', (t) => ({ maxError: twoDigits(ERROR.toValue(t)) }));
        slider('size', (pointSize) => ({ pointSize }));
        $('sizing').append(...SIZINGS.map((name) => new Option(t(`word.${name}`), name)));
        $('sizing').addEventListener('change', (e) => viewer.configure({ sizing: e.target.value }));
        $('averaged').addEventListener('change', (e) => viewer.configure({ averaged: e.target.checked }));
        $('exposure').addEventListener('change', (e) => viewer.configure({ autoExposure: e.target.checked }));
        for (const name of TONES) slider(name, (v) => ({ [name]: v }));
        $('tone-reset').addEventListener('click', () => viewer.configure({ brightness: 0, contrast: 0, gamma: 1 }));
    }

    bindView() {
        const { viewer } = this;
        let strength = viewer.settings.eyeDome || 0.5;
        $('edl').addEventListener('change', (e) => viewer.configure({ eyeDome: e.target.checked ? strength : 0 }));
        $('edl-strength').addEventListener('input', (e) => {
            strength = e.target.valueAsNumber;
            viewer.configure({ eyeDome: strength });
        });
        $('box').addEventListener('change', (e) => viewer.configure({ boundingBox: e.target.checked }));
        $('ortho').addEventListener('change', (e) => viewer.configure({ orthographic: e.target.checked }));
        $('up').append(...UP_AXES.map((up) => new Option(upName(up), up)));
        $('up').addEventListener('change', (e) => viewer.configure({ up: e.target.value }));
        const choose = (id, list) => {
            $(id).append(...list.map((name) => new Option(t(`word.${name}`), name)));
            $(id).addEventListener('change', (e) => viewer.configure({ [id]: e.target.value }));
        };
        choose('background', BACKGROUNDS);
        choose('theme', THEMES);
    }

    // The histogram follows what is loaded, a few times.
    followSample() {
        const { mode, stats } = { mode: this.viewer.mode, stats: this.viewer.active.selection.draw.length };
        if (mode?.kind !== 'ramp' || (this.sampled?.mode === mode && stats < 2 * this.sampled.nodes)) return;
        const values = this.viewer.sampleOf(mode);
        if (values.length === 0) return;
        const full = this.viewer.domainOf(mode);
        this.sampled = { mode, nodes: stats, full, shares: histogram(values, full) };
        this.showChart(mode);
    }

    showChart(mode) {
        const isSampled = this.sampled?.mode === mode;
        const full = isSampled ? this.sampled.full : this.viewer.domainOf(mode);
        const span = full[1] - full[0];
        this.chart.show({
            full, range: this.viewer.range(), shares: isSampled ? this.sampled.shares : null, text: (v) => channelText(mode.channel, v, span),
            colour: (t) => cssColour(rampColour(this.viewer.settings.ramp, t)),
        });
    }

    fillModes() {
        $('mode').replaceChildren(...this.viewer.modes.map((mode) => new Option(mode.label, mode.name)));
        this.showColours();
    }

    showSettings() {
        const s = this.viewer.settings;
        $('budget').value = BUDGET.toSlider(s.budget);
        $('budget-out').value = short(s.budget);
        $('error').value = ERROR.toSlider(Math.max(s.maxError, 1e-3));
        $('error-out').value = `${s.maxError} px`;
        $('size').value = s.pointSize;
        $('size-out').value = `× ${s.pointSize}`;
        $('sizing').value = s.sizing;
        $('averaged').checked = s.averaged;
        $('exposure').checked = s.autoExposure;
        for (const name of TONES) {
            $(name).value = s[name];
            $(`${name}-out`).value = s[name];
        }
        $('edl').checked = s.eyeDome > 0;
        $('edl-row').hidden = !(s.eyeDome > 0);
        $('edl-out').value = s.eyeDome;
        if (s.eyeDome > 0) $('edl-strength').value = s.eyeDome;
        $('box').checked = s.boundingBox;
        $('ortho').checked = s.orthographic;
        $('ramp').value = s.ramp;
        $('up').value = s.up;
        $('background').value = s.background;
        $('stage').className = `bg-${s.background}`;
        $('theme').value = s.theme;
        document.documentElement.dataset.theme = s.theme;
    }

    showColours() {
        const { mode } = this.viewer;
        if (!mode) return;
        $('mode').value = mode.name;
        const { exposure } = this.viewer.dataset.meta;
        $('tone-settings').hidden = mode.kind !== 'rgb';
        $('exposure-row').hidden = mode.kind !== 'rgb' || (exposure ?? 1) === 1;
        $('exposure-text').textContent = t('tone.exposure', { times: plain(exposure ?? 1) });
        $('ramp-settings').hidden = mode.kind !== 'ramp';
        if (mode.kind !== 'ramp') return;
        const [low, high] = this.viewer.range();
        this.showChart(mode);
        $('low').value = value(low, high - low);
        $('high').value = value(high, high - low);
        $('low').parentElement.classList.toggle('tall', [$('low'), $('high')].some((field) => field.value.length > MAX_SHORT_DIGITS));
        // The legend tells times as dates; the fields hold the numbers of the file.
        $('low').title = channelText(mode.channel, low, high - low);
        $('high').title = channelText(mode.channel, high, high - low);
    }
}
