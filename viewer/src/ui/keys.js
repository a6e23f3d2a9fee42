// Keyboard shortcuts: one table, which is also the help.
import { UP_AXES } from '../view/up_axis.js';
import { SIZINGS } from '../view/settings.js';
import { shownKey } from './format.js';
import { TOOLS, toolName } from './tools.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const TURN = 0.06;
const MOVE_PIXELS = 40;
const ZOOM = 1.15;

// [key, name, yaw, pitch] of the views of six sides.
export const SIDES = [
    ['t', 'above', 0, Math.PI / 2], ['shift+t', 'below', 0, -Math.PI / 2], ['s', 'south', 0, 0],
    ['shift+n', 'north', Math.PI, 0], ['shift+w', 'west', -Math.PI / 2, 0], ['shift+e', 'east', Math.PI / 2, 0],
];

export function toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.().catch(() => {}); // a browser may not allow it
}

// page: { togglePanel(), views, marks, tools, picture }
export function actions(viewer, { togglePanel, views, marks, tools, picture }) {
    const { camera } = viewer;
    const turn = (yaw, pitch) => camera.rotate(yaw, pitch);
    const pan = (x, y) => camera.pan(x, y, viewer.canvas.clientHeight);
    const view = (yaw, pitch) => {
        camera.set({ yaw, pitch });
        viewer.fit();
    };
    const cycleMode = (step) => {
        const i = viewer.modes.indexOf(viewer.mode) + step;
        viewer.setMode(viewer.modes.at(i % viewer.modes.length).name);
    };
    const size = (f) => viewer.configure({ pointSize: Math.min(4, Math.max(0.4, Math.round(viewer.settings.pointSize * f * 10) / 10)) });
    const s = viewer.settings;
    const nextUp = () => UP_AXES[(UP_AXES.indexOf(s.up) + 1) % UP_AXES.length];
    const toggleHelp = () => ($('help').open ? $('help').close() : $('help').showModal());
    return [
        { keys: ['f'], text: t('key.fit'), run: () => viewer.fit(true) },
        { keys: ['r'], text: t('key.first'), run: () => view(-0.6, 0.6) },
        ...SIDES.map(([key, side, yaw, pitch]) => ({ keys: [key], shown: shownKey(key), text: t(`key.${side}`), run: () => view(yaw, pitch) })),
        { keys: ['o'], text: t('key.parallel'), run: () => viewer.configure({ orthographic: !s.orthographic }) },
        { keys: ['w'], text: t('key.fly'), run: () => viewer.fly.set(!viewer.fly.isOn) },
        { keys: ['shift+f'], shown: shownKey('shift+f'), text: t('key.full'), always: true, run: toggleFullScreen },
        { keys: ['shift+p'], shown: shownKey('shift+p'), text: t('key.picture'), run: () => picture.ask() },
        { keys: ['u'], text: t('key.up'), run: () => viewer.configure({ up: nextUp() }) },
        { keys: ['c'], text: t('key.next'), run: () => cycleMode(1) },
        { keys: ['x'], text: t('key.previous'), run: () => cycleMode(-1) },
        { keys: ['v'], text: t('key.classes'), run: () => viewer.hideClasses([]) },
        { keys: ['shift+v'], shown: shownKey('shift+v'), text: t('key.unfilter'), run: () => viewer.clearFilters() },
        { keys: ['shift+c'], shown: shownKey('shift+c'), text: t('key.everything'), run: () => viewer.showEverything() },
        { keys: ['+', '='], shown: '+', text: t('key.larger'), run: () => size(1.25) },
        { keys: ['-'], text: t('key.smaller'), run: () => size(0.8) },
        { keys: ['a'], text: t('key.sizing'), run: () => viewer.configure({ sizing: SIZINGS[(SIZINGS.indexOf(s.sizing) + 1) % SIZINGS.length] }) },
        { keys: ['shift+a'], shown: shownKey('shift+a'), text: t('key.average'), run: () => viewer.configure({ averaged: !s.averaged }) },
        { keys: ['e'], text: t('key.edl'), run: () => viewer.configure({ eyeDome: s.eyeDome > 0 ? 0 : 0.5 }) },
        { keys: ['b'], text: t('key.box'), run: () => viewer.configure({ boundingBox: !s.boundingBox }) },
        ...TOOLS.map(([kind, key]) => ({ keys: [key], shown: shownKey(key), text: toolName(kind), run: () => tools.choose(kind) })),
        { keys: ['ctrl+z'], shown: shownKey('ctrl+z'), text: t('key.undo'), run: () => marks.undo() },
        { keys: ['ctrl+shift+z', 'ctrl+y'], text: '', run: () => marks.redo() },
        { keys: ['m'], text: t('key.save'), run: () => views.save() },
        ...Array.from({ length: 9 }, (_, i) => ({
            keys: [String(i + 1)], shown: '1 … 9', text: i === 0 ? t('key.views') : '', run: () => views.show(i),
        })),
        { keys: ['l'], text: t('key.link'), run: () => views.copyLink() },
        { keys: ['p'], text: t('key.panel'), always: true, run: togglePanel },
        { keys: ['h', '?'], shown: 'H', text: t('key.help'), always: true, run: toggleHelp },
        { keys: ['ArrowLeft'], run: () => turn(-TURN, 0) },
        { keys: ['ArrowRight'], run: () => turn(TURN, 0) },
        { keys: ['ArrowUp'], run: () => turn(0, TURN) },
        { keys: ['ArrowDown'], shown: '← → ↑ ↓', text: t('key.turn'), run: () => turn(0, -TURN) },
        { keys: ['shift+ArrowLeft'], run: () => pan(MOVE_PIXELS, 0) },
        { keys: ['shift+ArrowRight'], run: () => pan(-MOVE_PIXELS, 0) },
        { keys: ['shift+ArrowUp'], run: () => pan(0, MOVE_PIXELS) },
        { keys: ['shift+ArrowDown'], run: () => pan(0, -MOVE_PIXELS) },
        { keys: ['PageUp'], shown: t('key.page'), text: t('key.zoom'), run: () => viewer.controls.zoomMiddle(1 / ZOOM) },
        { keys: ['PageDown'], run: () => viewer.controls.zoomMiddle(ZOOM) },
    ];
}

const MOUSE = ['drag', 'right', 'wheel', 'double', 'finger', 'fingers', 'taps'].map((what) => [t(`mouse.${what}`), t(`mouse.${what}.does`)]);

function fillHelp(list, rows, tag) {
    for (const [what, text] of rows) {
        const dt = document.createElement('dt');
        const dd = document.createElement('dd');
        const label = document.createElement(tag);
        label.textContent = what;
        dt.append(label);
        dd.textContent = text;
        list.append(dt, dd);
    }
}

// The keys that a control needs for itself: a slider its arrows, a list its letters, a field all. What it does not
// need still moves the picture, so that a box that was ticked does not keep the keyboard.
const ARROWS = /^(Arrow|Page|Home|End)/;
const OWN_KEYS = {
    checkbox: (key) => key === ' ',
    range: (key) => ARROWS.test(key),
    select: (key) => key === ' ' || key.length === 1 || ARROWS.test(key),
};

export function belongsToControl(control, key) {
    if (!control) return false;
    const own = OWN_KEYS[control.tagName === 'SELECT' ? 'select' : control.type] ?? (() => true);
    return own(key);
}

// The name of a key in the table. Keyboards of other scripts say Cyrillic or Greek letters: their place decides then.
export function keyName({ key, code, shiftKey, ctrlKey, metaKey }, known) {
    const name = key.length === 1 ? key.toLowerCase() : key;
    if (ctrlKey || metaKey) return `ctrl+${shiftKey ? 'shift+' : ''}${name}`;
    if (shiftKey && (name.startsWith('Arrow') || known(`shift+${name}`))) return `shift+${name}`;
    const letter = /^Key([A-Z])$/.exec(code ?? '');
    return !known(name) && letter && !/^[a-z]$/.test(name) ? letter[1].toLowerCase() : name;
}

// After the mouse has ticked a box, moved a slider or chosen from a list, the keyboard goes back to the picture. Whoever
// walks through the panel with the keyboard stays there; Escape, and Enter in a field, lead out.
function returnFocus(canvas) {
    let byPointer = false;
    const leave = () => canvas.focus({ preventScroll: true });
    window.addEventListener('pointerdown', () => (byPointer = true), true);
    window.addEventListener('keydown', () => (byPointer = false), true);
    document.addEventListener('click', (event) => {
        if (byPointer && event.target.matches('input[type=range], input[type=checkbox]')) leave();
    });
    document.addEventListener('change', (event) => {
        if (byPointer && event.target.matches('select')) leave();
    });
    document.addEventListener('keydown', ({ key, target }) => {
        const isField = target.matches?.('input[type=number], input[type=text]');
        if ((isField && !target.form && key === 'Enter') || (target.matches?.('input, select') && key === 'Escape')) leave();
    });
}

export function bindKeys(viewer, page) {
    const table = actions(viewer, page);
    const byKey = new Map(table.flatMap((action) => action.keys.map((key) => [key, action])));
    const run = (action) => {
        if (!action.always && !viewer.dataset?.root) return;
        action.run();
        viewer.invalidate();
    };
    window.addEventListener('keydown', (event) => {
        if (event.altKey) return;
        if (belongsToControl(event.target.closest?.('input, select'), event.key)) return;
        const name = keyName(event, (key) => byKey.has(key));
        const action = byKey.get(name);
        if (!action || ($('help').open && !action.keys.includes('h'))) return;
        event.preventDefault();
        run(action);
        if (/Arrow|Page/.test(name)) viewer.moved();
    });
    for (const [key, name] of SIDES) {
        const side = document.createElement('button');
        Object.assign(side, { textContent: t(`side.${name}`), title: `${t(`key.${name}`)} (${shownKey(key)})` });
        side.addEventListener('click', () => run(byKey.get(key)));
        $('sides').append(side);
    }
    returnFocus(viewer.canvas);
    fillHelp($('help-mouse'), MOUSE, 'span');
    fillHelp($('help-keys'), table.filter((a) => a.text).map((a) => [a.shown ?? a.keys[0].toUpperCase(), a.text]), 'kbd');
    for (const [id, key] of [['fit', 'f'], ['reset', 'r'], ['top', 't'], ['front', 's'], ['help-button', 'h'], ['fly', 'w'], ['full-screen', 'shift+f'], ['picture-button', 'shift+p']])
        $(id).addEventListener('click', () => run(byKey.get(key)));
}
