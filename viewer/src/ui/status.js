// The status line, the loading bar, the splash and the messages.
import { className } from '../view/palettes.js';
import { valueOfStored } from '../data/attributes.js';
import { State } from '../data/hierarchy.js';
import { hasValue } from '../data/decode.js';
import { element } from './element.js';
import { channelText, count, distanceText, namedCoordinates, plain } from './format.js';
import { upName } from '../view/up_axis.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const MAX_MESSAGES = 3;
const SAY_MS = 3500;

// How the view begins, where it does not as usual.
function beginning({ up, reason, isOpened }) {
    return [
        up !== 'z' && t('begin.up', { up: upName(up), why: t(reason === 'camera' ? 'begin.camera' : 'begin.stands') }),
        isOpened && t('begin.ceiling'),
    ].filter(Boolean).join(' ');
}

// Which cloud is shown of several that lie too far apart, and how far the nearest other is.
function apart(viewer, { shown, others }) {
    const distances = others.map((other) => ({ other, away: viewer.gapBetween(shown, other) }));
    const { other, away } = distances.reduce((a, b) => (b.away < a.away ? b : a));
    return t('apart', { other: other.dataset.meta.name, away: distanceText(away, shown.dataset.meta), shown: shown.dataset.meta.name });
}

export class Status {
    constructor(viewer) {
        this.viewer = viewer;
        this.peak = 0; // nodes still to come when the present burst of loading was largest
        this.frames = [];
        this.seen = new Set();
        viewer.addEventListener('frame', () => this.frame());
        viewer.addEventListener('firstpicture', () => ($('splash').hidden = viewer.clouds.some(({ dataset }) => dataset.meta.points > 0)));
        viewer.addEventListener('seesnothing', (e) => this.hint(e.detail));
        viewer.addEventListener('begun', ({ detail }) => (detail.up !== 'z' || detail.isOpened) && this.say(beginning(detail)));
        viewer.addEventListener('apart', (e) => this.say(apart(viewer, e.detail)));
        for (const type of ['classes', 'filters']) viewer.addEventListener(type, () => this.hint(null));
        viewer.addEventListener('error', (e) => this.error(e.detail));
        viewer.addEventListener('flying', (e) => this.flying(e.detail));
        viewer.addEventListener('speed', (e) => this.say(t('fly.speed', { speed: plain(Number(e.detail.toPrecision(2))) })));
        viewer.addEventListener('offline', (e) => this.offline(e.detail));
        viewer.addEventListener('picked', (e) => this.picked(e.detail));
    }

    flying(isOn) {
        $('fly').setAttribute('aria-pressed', String(isOn));
        this.say(t(isOn ? 'fly.on' : 'fly.off'));
    }

    frame() {
        const stats = this.viewer.stats();
        const hidden = this.viewer.filter.hidden.size;
        const filters = this.viewer.filter.count;
        $('s-points').textContent = count(stats.pointsDrawn, 'point') + (hidden > 0 ? `, ${t('status.hidden', { classes: count(hidden, 'class') })}` : '')
            + (filters > 0 ? `, ${count(filters, 'filter')}` : '');
        $('s-nodes').textContent = `${count(stats.nodesDrawn, 'node')}, ${count(stats.levels, 'level')}` + (stats.budgetReached ? `, ${t('status.budget')}` : '');
        $('s-fps').textContent = this.rate();
        clearTimeout(this.rest);
        this.rest = setTimeout(() => ($('s-fps').textContent = ''), 1500);
        this.progress();
    }

    // Frames are drawn on demand: the rate says something only while they follow each other.
    rate() {
        const now = performance.now();
        this.frames = this.frames.filter((t) => now - t < 1000);
        this.frames.push(now);
        if (this.frames.length < 3) return '';
        const span = now - this.frames[0];
        return t('status.fps', { n: Math.round(((this.frames.length - 1) * 1000) / span) });
    }

    progress() {
        const left = this.viewer.clouds.reduce((sum, { loader }) => sum + loader.loading + loader.wanted.length + loader.chunks.length, 0);
        this.peak = left === 0 ? 0 : Math.max(this.peak, left);
        const bar = $('progress');
        bar.hidden = left === 0;
        if (left === 0) {
            bar.firstElementChild.style.width = '0';
            return;
        }
        const percent = Math.round(Math.max(4, 100 * (1 - left / this.peak)));
        bar.firstElementChild.style.width = `${percent}%`;
        bar.setAttribute('aria-valuenow', percent);
    }

    // Where the picked point is, in the coordinates of the file, and its value of the present colours.
    picked({ point, node, index }) {
        const { meta } = node.cloud.dataset;
        const parts = namedCoordinates(node.cloud.toSource(point), meta, this.viewer.settings.coordinates);
        $('s-pick').textContent = [`${meta.isLonLat ? t('status.lonlat') : 'x y z'}  ${parts.join(', ')}`, this.valueAt(node, index)].filter(Boolean).join(' · ');
    }

    valueAt(node, index) {
        const { mode } = node.cloud;
        const stored = mode.channel && node.payload.scalars.get(mode.channel.key)?.values[index];
        if (!mode.channel || stored === undefined) return '';
        if (!hasValue(stored)) return `${mode.label} –`;
        const v = valueOfStored(mode.channel, stored);
        if (mode.kind === 'classes') return t('status.class', { code: v, name: className(v) });
        return `${mode.label} ${channelText(mode.channel, v, Math.min(node.cloud.range()[1] - node.cloud.range()[0], 20))}`;
    }

    // What to do when there is nothing in the picture. reason: of Sight.whyNothing()
    hint(reason) {
        const hiding = this.hiding();
        const text = reason ? [t(`nothing.${reason}`), ...(reason === 'dot' ? [] : hiding)].join(' ') : '';
        $('hint').hidden = !reason;
        if ($('hint').dataset.text === text) return;
        $('hint').dataset.text = text;
        $('hint').textContent = text;
        if (!reason || reason === 'dot' || hiding.length === 0) return;
        const button = element('button', { textContent: t('hint.everything'), title: t('hint.everything.title') });
        button.addEventListener('click', () => this.viewer.showEverything());
        $('hint').append(button);
    }

    // What may hide the points that are not seen, in sentences.
    hiding() {
        const { viewer } = this;
        const of = (list) => list.reduce((sum, n) => sum + n, 0);
        const [boxes, off] = [viewer.marks.boxes.length, viewer.clouds.filter(({ isShown }) => !isShown).length];
        const [hidden, filters] = [of(viewer.clouds.map(({ filter }) => filter.hidden.size)), of(viewer.clouds.map(({ filter }) => filter.count))];
        return [
            boxes > 0 && t('hint.boxes', { boxes: count(boxes, 'clip box') }),
            hidden > 0 && t(hidden === 1 ? 'hint.class' : 'hint.classes', { classes: count(hidden, 'class') }),
            filters > 0 && t('hint.filters', { filters: count(filters, 'filter') }),
            off > 0 && t(off === 1 ? 'hint.cloud' : 'hint.clouds', { clouds: count(off, 'cloud') }),
        ].filter(Boolean);
    }

    // A note that can be closed. Where the first node failed there will be no picture.
    error(text) {
        const { root } = this.viewer.dataset ?? {};
        if (!$('splash').hidden && (!root || root.state === State.FAILED)) this.stopWaiting(t('status.nothing'));
        if (this.seen.has(text) || this.seen.size >= MAX_MESSAGES) return;
        this.seen.add(text);
        const note = document.createElement('div');
        note.className = 'message';
        const words = document.createElement('p');
        words.textContent = text;
        const close = Object.assign(document.createElement('button'), { textContent: '×' });
        close.setAttribute('aria-label', t('status.close'));
        close.addEventListener('click', () => {
            note.remove();
            this.seen.delete(text);
        });
        note.append(words, close);
        $('messages').append(note);
    }

    // Something was done: said for a while.
    say(text) {
        $('said').textContent = text;
        $('said').hidden = false;
        clearTimeout(this.saying);
        this.saying = setTimeout(() => ($('said').hidden = true), SAY_MS);
    }

    // What is no longer so, where that is what is said.
    unsay(text) {
        if ($('said').textContent === text) $('said').hidden = true;
    }

    // The server is not reached: a note that goes when it is again.
    offline(text) {
        if (text) {
            this.offlineText = t('status.offline', { text });
            this.error(this.offlineText);
            return;
        }
        if (!this.offlineText) return;
        const again = t('status.offline', { text: '' });
        this.offlineText = null;
        for (const note of [...$('messages').children].filter((n) => n.firstChild.textContent.endsWith(again))) note.lastChild.click();
        this.say(t('status.online'));
    }

    stopWaiting(text) {
        $('splash').querySelector('.spinner').hidden = true;
        $('late').hidden = true;
        $('splash').querySelector('p').textContent = text;
    }

    fatal(text) {
        $('splash').hidden = false;
        this.stopWaiting(t('status.nothing'));
        this.error(text);
    }

    empty() {
        this.stopWaiting(t('status.empty'));
    }
}
