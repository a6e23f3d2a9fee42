// The page of mote view --live.
import { Connection } from './connection.js';
import { LiveView } from './live_view.js';
import { LiveAddress, MODES, SHOWS as SHOW_NAMES, readLiveCamera, readLiveSettings } from './live_address.js';
import { BACKGROUNDS } from '../view/settings.js';
import { startMeasuring, LIVE_TOOLS } from './measuring.js';
import { RAMPS, className, classColour, cssColour, rampCss } from '../view/palettes.js';
import { UP_AXES, upName } from '../view/up_axis.js';
import { element } from '../ui/element.js';
import { lines } from '../ui/point_card.js';
import { count, plain, shownKey, value } from '../ui/format.js';
import { SIDES, keyName, belongsToControl, toggleFullScreen } from '../ui/keys.js';
import { ScaleBar } from '../ui/scale_bar.js';
import { toolName } from '../ui/tools.js';
import { ViewCube } from '../ui/view_cube.js';
import { t, translate } from '../texts/texts.js';
import { LanguageSwitch } from '../ui/language.js';
import { table } from '../data/table.js';

const $ = (id) => document.getElementById(id);
const SHOWS = SHOW_NAMES.map((name) => [name, t(`show.${name}`)]);
const TURN = 0.06;
const SAY_MS = 3500;
const TITLES = table({ rgb: 'RGB', gps_time: t('mode.time'), none: t('mode.one') });
const UNITS = table({ degree: '°', second: ' s', metre: ' m' });
const MOUSE = ['drag', 'right', 'wheel', 'double'].map((what) => [t(`live.${what}`), t(`live.${what}.does`)]);

const titleOf = (name) => TITLES[name] ?? `${name[0].toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
const withUnit = (text, unit) => `${text}${UNITS[unit] ?? (unit ? ` ${unit}` : '')}`;

translate(document);
const query = new URLSearchParams(location.search);
const connection = new Connection(query.get('token'));
const view = new LiveView($('canvas'), connection, readLiveCamera(query), query.has('cam') || query.has('up'));
view.configure(readLiveSettings(query));
new LiveAddress(view);
new ViewCube(view);
new ScaleBar(view);
new LanguageSwitch();
if (query.has('cam') && !readLiveCamera(query)) say(t('live.place'));
const fill = (select, rows, chosen) => {
    select.replaceChildren(...rows.map(([v, text]) => element('option', { value: v, textContent: text })));
    select.value = chosen;
};

// Says something for a while.
function sayFor(text) {
    say(text);
    clearTimeout(sayFor.timer);
    sayFor.timer = setTimeout(() => $('said').textContent === text && say(''), SAY_MS);
}

function say(text) {
    $('said').textContent = text;
    $('said').hidden = !text;
}

// The background of the page's own colours where none is chosen. A picture has one colour where the page has a gradient.
const PLAIN = table({ slate: '161b24', black: '000000', grey: '6b7078', white: 'ffffff', sky: '93b4d8' });
function background() {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    view.configure({ ground: PLAIN[view.settings.background] ?? (dark ? '161b24' : 'eef1f5') });
}

fill($('mode'), MODES.map((m) => [m, t(`live.mode.${m}`)]), 'points');
fill($('show'), SHOWS, 'color');
fill($('ramp'), RAMPS.map((r) => [r, r]), 'viridis');
fill($('background'), BACKGROUNDS.map((b) => [b, t(`word.${b}`)]), 'auto');
fill($('up'), UP_AXES.map((a) => [a, upName(a)]), 'z');
$('mode').addEventListener('change', () => view.configure({ mode: $('mode').value }));
$('color').addEventListener('change', () => view.configure({ color: $('color').value, range: '' }));
$('show').addEventListener('change', () => view.configure({ show: $('show').value }));
$('ramp').addEventListener('change', () => view.configure({ map: $('ramp').value }));
$('up').addEventListener('change', () => (view.configure({ up: $('up').value }), view.fit()));
$('background').addEventListener('change', () => (view.configure({ background: $('background').value }), background()));
$('ortho').addEventListener('change', () => view.configure({ orthographic: $('ortho').checked }));
$('edl').addEventListener('change', () => view.configure({ edl: $('edl').checked ? '' : 0 }));
for (const id of ['low', 'high']) $(id).addEventListener('change', () => {
    const [low, high] = [$('low').valueAsNumber, $('high').valueAsNumber];
    if (!(low < high)) return;
    view.configure({ range: `${low}:${high}` });
    if ($('only').checked) view.setFilter(view.settings.color, [low, high]);
});
$('only').addEventListener('change', () => view.setFilter(view.settings.color, $('only').checked ? [$('low').valueAsNumber, $('high').valueAsNumber] : null));
const showAll = () => view.configure({ filters: {}, hidden: [] });
$('filters-none').addEventListener('click', showAll);
$('copy').addEventListener('click', () => navigator.clipboard?.writeText(view.command()).then(() => say(t('live.copied'))));

view.addEventListener('settings', () => {
    $('mode').value = view.settings.mode;
    $('show').value = view.settings.show;
    $('ortho').checked = view.settings.orthographic;
    $('ramp').value = view.settings.map;
    $('up').value = view.settings.up;
    $('background').value = view.settings.background;
    $('edl').checked = view.settings.edl === '';
    $('only').checked = view.settings.color in view.settings.filters;
    $('filtered').hidden = !view.isFiltered;
    $('filtered-text').textContent = [...Object.keys(view.settings.filters).map((name) => t('live.only', { name: titleOf(name) })), ...view.settings.hidden.map((code) => t('live.no', { name: className(code) }))].join(', ');
    $('copy').disabled = view.isFiltered; // no option of mote render hides points
});
view.addEventListener('scene', ({ detail: s }) => {
    document.title = `${s.name} – ${t('live.title')}`;
    $('title').textContent = s.name;
    $('subtitle').textContent = t('live.points', { points: count(s.points, 'point') });
    $('copy').hidden = s.inputs.length === 0; // what has no file is drawn nowhere else
    fill($('color'), s.colors.map((c) => [c, titleOf(c)]), view.settings.color);
    $('facts').replaceChildren(...lines([[t('live.by'), `${s.backend}, ${count(s.threads, 'thread')}`], [t('live.as'), s.encodings]]));
});
view.addEventListener('legend', ({ detail: l }) => {
    view.legendSource = l.source;
    if ((l.exposure ?? 1) !== 1 && !view.toldExposure) sayFor(t('live.dark', { times: plain(l.exposure) }));
    view.toldExposure ||= l.exposure > 1;
    if (l.name) $('color').value = view.settings.color = l.name;
    $('ramp-settings').hidden = l.source !== 'ramp';
    view.emit('settings', {});
    $('legend').hidden = !['ramp', 'classes'].includes(l.source);
    const body = [];
    if (l.source === 'ramp') {
        [$('low').value, $('high').value] = l.range.map(String);
        const bar = element('div', { className: 'ramp' });
        bar.style.background = rampCss(view.settings.map);
        body.push(bar, element('div', { className: 'ends' }, ...l.range.map((v) => element('span', { textContent: `${withUnit(value(v, l.range[1] - l.range[0]), l.unit)}` }))));
    }
    for (const code of l.classes ?? []) {
        const swatch = element('i');
        swatch.style.background = cssColour(classColour(code));
        const shown = element('input', { type: 'checkbox', checked: !view.settings.hidden.includes(code) });
        shown.addEventListener('change', () => view.toggleClass(code));
        body.push(element('label', { className: 'entry' }, shown, swatch, element('span', { textContent: className(code) })));
    }
    $('legend').replaceChildren(element('h3', { textContent: l.name ? titleOf(l.name) : '' }), ...body);
});
const times = [];
view.addEventListener('shown', ({ detail: p }) => {
    $('splash').hidden = true;
    const now = performance.now();
    times.push(now);
    while (now - times[0] > 1000) times.shift();
    $('s-size').textContent = `${p.width} × ${p.height}, ${p.isStill ? t('live.lossless') : `${Math.round(p.size / 1000)} kB`}`;
    $('s-fps').textContent = p.isStill ? '' : `${t('status.fps', { n: times.length })}, ${Math.round(p.answerMs)} ms`;
});
function tell(p) {
    $('card').hidden = !p.place;
    if (!p.place) return;
    const place = p.place.map((v, i) => ['xyz'[i], v]);
    $('card-list').replaceChildren(...lines([...place, ...p.attributes.map(([name, v, unit]) => [titleOf(name), withUnit(v, unit)])]));
}
view.addEventListener('picked', ({ detail }) => tell(detail));
const { marks, tools } = startMeasuring(view, { say: sayFor, unsay: (text) => $('said').textContent === text && say(''), error: say }, tell);
view.addEventListener('words', ({ detail }) => say(detail.text));
$('canvas').addEventListener('pointerdown', () => view.scene && say('')); // it was read
connection.addEventListener('away', ({ detail }) => say(detail));
connection.addEventListener('open', () => say(''));
const hideCard = () => ($('card').hidden = true);
tools.chosen = hideCard;
$('card-close').addEventListener('click', hideCard);

const side = (yaw, pitch) => {
    view.camera.set({ yaw, pitch });
    view.fit();
};
const turn = (yaw, pitch) => {
    view.camera.rotate(yaw, pitch);
    view.changed();
};
const step = (list, now) => list[(list.indexOf(now) + 1) % list.length];
function togglePanel() {
    const isHidden = document.body.classList.toggle('no-panel');
    $('panel-toggle').setAttribute('aria-expanded', String(!isHidden));
}
const help = () => ($('help').open ? $('help').close() : $('help').showModal());
const KEYS = [
    [['f'], t('key.fit'), () => view.fit()],
    [['r'], t('key.first'), () => side(-0.6, 0.6)],
    ...SIDES.map(([key, name, yaw, pitch]) => [[key], t(`key.${name}`), () => side(yaw, pitch)]),
    [['o'], t('key.parallel'), () => view.configure({ orthographic: !view.settings.orthographic })],
    [['w'], t('key.fly'), () => view.fly.set(!view.fly.isOn)],
    [['a'], t('live.modes'), () => view.configure({ mode: step(MODES, view.settings.mode) })],
    [['c'], t('key.next'), () => view.configure({ color: step(view.scene.colors, view.settings.color), range: '' })],
    [['x'], t('live.false'), () => view.configure({ show: step(SHOWS.map(([s]) => s), view.settings.show) })],
    [['shift+v'], t('live.all'), showAll],
    [['e'], t('key.edl'), () => view.configure({ edl: view.settings.edl === '' ? 0 : '' })],
    ...LIVE_TOOLS.map(([kind, key]) => [[key], toolName(kind), () => $('tools').hidden || tools.choose(kind)]),
    [['ctrl+z'], t('live.undo'), () => marks.undo()],
    [['ctrl+y'], t('live.redo'), () => marks.redo()],
    [['l'], t('live.command'), () => $('copy').click()],
    [['shift+f'], t('key.full'), toggleFullScreen],
    [['p'], t('key.panel'), togglePanel],
    [['h', '?'], t('key.help'), help],
    [['ArrowLeft'], '', () => turn(-TURN, 0)], [['ArrowRight'], '', () => turn(TURN, 0)], [['ArrowUp'], '', () => turn(0, TURN)], [['ArrowDown'], '', () => turn(0, -TURN)],
    [['PageUp'], t('live.nearer'), () => view.controls.zoomMiddle(1 / 1.15)], [['PageDown'], t('live.farther'), () => view.controls.zoomMiddle(1.15)],
];
const byKey = new Map(KEYS.flatMap(([keys, , run]) => keys.map((k) => [k, run])));
addEventListener('keydown', (event) => {
    if (event.altKey || belongsToControl(event.target.closest?.('input, select'), event.key)) return;
    const run = byKey.get(keyName(event, (k) => byKey.has(k)));
    if (!run || !view.scene) return;
    event.preventDefault();
    run();
});
const keyText = (key) => ({ PageUp: t('key.page.up'), PageDown: t('key.page.down') })[key] ?? shownKey(key);
const helpRows = (rows, tag) => rows.flatMap(([key, text]) => [element('dt', {}, element(tag, { textContent: key })), element('dd', { textContent: text })]);
$('help-mouse').replaceChildren(...helpRows(MOUSE, 'span'));
$('help-keys').replaceChildren(...helpRows(KEYS.filter(([, text]) => text).map(([[key], text]) => [keyText(key), text]), 'kbd'));
$('help-button').addEventListener('click', help);
$('fit').addEventListener('click', () => view.fit());
$('panel-toggle').addEventListener('click', togglePanel);
if (matchMedia('(max-width: 720px)').matches) togglePanel();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', background);
background();
view.emit('settings', {});
window.mote = { live: view, connection };
