// Keyboard shortcuts: one table, which is also the help.
const $ = (id) => document.getElementById(id);
const TURN = 0.06;
const MOVE_PIXELS = 40;
const ZOOM = 1.15;

export function actions(viewer, togglePanel) {
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
    return [
        { keys: ['f'], text: 'Fit the cloud into the view', run: () => viewer.fit() },
        { keys: ['r'], text: 'Back to the first view', run: () => view(-0.6, 0.6) },
        { keys: ['t'], text: 'From above', run: () => view(0, Math.PI / 2) },
        { keys: ['s'], text: 'From the south', run: () => view(0, 0) },
        { keys: ['c'], text: 'Next colour mode', run: () => cycleMode(1) },
        { keys: ['x'], text: 'Previous colour mode', run: () => cycleMode(-1) },
        { keys: ['+', '='], shown: '+', text: 'Larger points', run: () => size(1.25) },
        { keys: ['-'], text: 'Smaller points', run: () => size(0.8) },
        { keys: ['a'], text: 'Close surfaces, on or off', run: () => viewer.configure({ adaptive: !s.adaptive }) },
        { keys: ['e'], text: 'Eye-dome lighting', run: () => viewer.configure({ eyeDome: s.eyeDome > 0 ? 0 : 0.5 }) },
        { keys: ['b'], text: 'Bounding box', run: () => viewer.configure({ boundingBox: !s.boundingBox }) },
        { keys: ['p'], text: 'Settings panel', run: togglePanel },
        { keys: ['h', '?'], shown: 'H', text: 'This help', run: () => $('help').showModal() },
        { keys: ['ArrowLeft'], run: () => turn(-TURN, 0) },
        { keys: ['ArrowRight'], run: () => turn(TURN, 0) },
        { keys: ['ArrowUp'], run: () => turn(0, TURN) },
        { keys: ['ArrowDown'], shown: '← → ↑ ↓', text: 'Turn (with shift: move)', run: () => turn(0, -TURN) },
        { keys: ['shift+ArrowLeft'], run: () => pan(MOVE_PIXELS, 0) },
        { keys: ['shift+ArrowRight'], run: () => pan(-MOVE_PIXELS, 0) },
        { keys: ['shift+ArrowUp'], run: () => pan(0, MOVE_PIXELS) },
        { keys: ['shift+ArrowDown'], run: () => pan(0, -MOVE_PIXELS) },
        { keys: ['PageUp'], shown: 'Page ↑ ↓', text: 'Nearer, farther', run: () => camera.zoomAbout(camera.target, 1 / ZOOM) },
        { keys: ['PageDown'], run: () => camera.zoomAbout(camera.target, ZOOM) },
    ];
}

const MOUSE = [
    ['Left drag', 'Turn around the centre'],
    ['Right drag', 'Move (also shift + left drag)'],
    ['Wheel', 'Zoom to the cursor'],
    ['Double click', 'Make this point the centre, show its coordinates'],
    ['One finger', 'Turn'],
    ['Two fingers', 'Move and zoom'],
];

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

export function bindKeys(viewer, togglePanel) {
    const table = actions(viewer, togglePanel);
    const byKey = new Map(table.flatMap((action) => action.keys.map((key) => [key, action])));
    window.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || $('help').open || !viewer.dataset?.root) return;
        if (event.target.closest('input, select')) return;
        const shifted = event.shiftKey && event.key.startsWith('Arrow');
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const action = byKey.get(shifted ? `shift+${key}` : key);
        if (!action) return;
        event.preventDefault();
        action.run();
        if (/Arrow|Page/.test(key)) viewer.moved();
        else viewer.invalidate();
    });
    fillHelp($('help-mouse'), MOUSE, 'span');
    fillHelp($('help-keys'), table.filter((a) => a.text).map((a) => [a.shown ?? a.keys[0].toUpperCase(), a.text]), 'kbd');
    const press = (key) => () => {
        byKey.get(key).run();
        viewer.invalidate();
    };
    for (const [id, key] of [['fit', 'f'], ['reset', 'r'], ['top', 't'], ['front', 's'], ['help-button', 'h']])
        $(id).addEventListener('click', press(key));
}
