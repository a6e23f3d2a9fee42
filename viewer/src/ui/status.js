// The status line, the loading bar, the splash and the messages.
import { className } from '../view/palettes.js';
import { valueOfStored } from '../data/attributes.js';
import { State } from '../data/hierarchy.js';
import { hasValue } from '../data/decode.js';
import { element } from './element.js';
import { channelText, count, distanceText, namedCoordinates, plain } from './format.js';
import { upName } from '../view/up_axis.js';
import { table } from '../data/table.js';

const $ = (id) => document.getElementById(id);
const MAX_MESSAGES = 3;
const SAY_MS = 3500;

const NOTHING = table({
    away: 'No point is in view from here. F fits the cloud into the view.',
    hidden: 'All points in view are hidden. Shift C shows everything.',
    dot: 'From here all points are no more than a dot. F fits them into the view, the wheel over a dot goes there.',
});

// How the view begins, where it does not as usual.
function beginning({ up, reason, isOpened }) {
    const why = reason === 'camera' ? 'all is seen from one side, as by a depth camera' : 'what it stands on lies across that axis';
    return [
        up !== 'z' && `Up is taken to be ${upName(up)}: ${why}. U turns another axis up.`,
        isOpened && 'The ceiling is cut off: Shift V shows it.',
    ].filter(Boolean).join(' ');
}

// Which cloud is shown of several that lie too far apart, and how far the nearest other is.
function apart(viewer, { shown, others }) {
    const distances = others.map((other) => ({ other, away: viewer.gapBetween(shown, other) }));
    const { other, away } = distances.reduce((a, b) => (b.away < a.away ? b : a));
    return `"${other.dataset.meta.name}" lies ${distanceText(away, shown.dataset.meta)} from "${shown.dataset.meta.name}": together each is a dot. F goes on to the next one.`;
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
        viewer.addEventListener('speed', (e) => this.say(`Speed ${plain(Number(e.detail.toPrecision(2)))} a second`));
        viewer.addEventListener('offline', (e) => this.offline(e.detail));
        viewer.addEventListener('picked', (e) => this.picked(e.detail));
    }

    flying(isOn) {
        $('fly').setAttribute('aria-pressed', String(isOn));
        this.say(isOn ? 'Flying: W A S D move, Q E down and up, shift is faster, drag looks around, the wheel sets the speed. Escape ends.' : 'Turning around the centre again.');
    }

    frame() {
        const stats = this.viewer.stats();
        const hidden = this.viewer.filter.hidden.size;
        const filters = this.viewer.filter.count;
        $('s-points').textContent = count(stats.pointsDrawn, 'point') + (hidden > 0 ? `, ${count(hidden, 'class')} hidden` : '')
            + (filters > 0 ? `, ${count(filters, 'filter')}` : '');
        $('s-nodes').textContent = `${count(stats.nodesDrawn, 'node')}, ${count(stats.levels, 'level')}` + (stats.budgetReached ? ', budget reached' : '');
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
        return `${Math.round(((this.frames.length - 1) * 1000) / span)} fps`;
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
        $('s-pick').textContent = [`${meta.isLonLat ? 'lon lat height' : 'x y z'}  ${parts.join(', ')}`, this.valueAt(node, index)].filter(Boolean).join(' · ');
    }

    valueAt(node, index) {
        const { mode } = node.cloud;
        const stored = mode.channel && node.payload.scalars.get(mode.channel.key)?.values[index];
        if (!mode.channel || stored === undefined) return '';
        if (!hasValue(stored)) return `${mode.label} –`;
        const v = valueOfStored(mode.channel, stored);
        if (mode.kind === 'classes') return `class ${v} ${className(v)}`;
        return `${mode.label} ${channelText(mode.channel, v, Math.min(node.cloud.range()[1] - node.cloud.range()[0], 20))}`;
    }

    // What to do when there is nothing in the picture. reason: of Sight.whyNothing()
    hint(reason) {
        const hiding = this.hiding();
        const text = reason ? [NOTHING[reason], ...(reason === 'dot' ? [] : hiding)].join(' ') : '';
        $('hint').hidden = !reason;
        if ($('hint').dataset.text === text) return;
        $('hint').dataset.text = text;
        $('hint').textContent = text;
        if (!reason || reason === 'dot' || hiding.length === 0) return;
        const button = element('button', { textContent: 'Show everything', title: 'Removes clip boxes and filters, and shows all classes and clouds (Shift C)' });
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
            boxes > 0 && `${count(boxes, 'clip box')} may hide what is there: Shift C shows everything.`,
            hidden > 0 && `${count(hidden, 'class')} ${hidden === 1 ? 'is' : 'are'} hidden: V shows all.`,
            filters > 0 && `${count(filters, 'filter')} may hide what is there: Shift V removes filters.`,
            off > 0 && `${count(off, 'cloud')} ${off === 1 ? 'is' : 'are'} switched off.`,
        ].filter(Boolean);
    }

    // A note that can be closed. Where the first node failed there will be no picture.
    error(text) {
        const { root } = this.viewer.dataset ?? {};
        if (!$('splash').hidden && (!root || root.state === State.FAILED)) this.stopWaiting('Nothing to show.');
        if (this.seen.has(text) || this.seen.size >= MAX_MESSAGES) return;
        this.seen.add(text);
        const note = document.createElement('div');
        note.className = 'message';
        const words = document.createElement('p');
        words.textContent = text;
        const close = Object.assign(document.createElement('button'), { textContent: '×' });
        close.setAttribute('aria-label', 'Close this message');
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

    // The server is not reached: a note that goes when it is again.
    offline(text) {
        if (text) {
            this.error(`${text} It is asked again.`);
            this.offlineText = `${text} It is asked again.`;
            return;
        }
        if (!this.offlineText) return;
        this.offlineText = null;
        for (const note of [...$('messages').children].filter((n) => / It is asked again\.$/.test(n.firstChild.textContent))) note.lastChild.click();
        this.say('The server answers again.');
    }

    stopWaiting(text) {
        $('splash').querySelector('.spinner').hidden = true;
        $('late').hidden = true;
        $('splash').querySelector('p').textContent = text;
    }

    fatal(text) {
        $('splash').hidden = false;
        this.stopWaiting('Nothing to show.');
        this.error(text);
    }

    empty() {
        this.stopWaiting('This data set has no points.');
    }
}
