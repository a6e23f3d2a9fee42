// The page: makes the viewer, its panels and window.mote, and opens the data set that the address names.
import { Viewer, DEFAULTS } from './viewer.js';
import { Panel } from './ui/panel.js';
import { Legend } from './ui/legend.js';
import { Status } from './ui/status.js';
import { bindKeys } from './ui/keys.js';
import { showFacts } from './ui/facts.js';
import { createApi } from './api.js';
import { UP_AXES } from './view/up_axis.js';

const { moteBoot } = globalThis;
const $ = (id) => document.getElementById(id);
const NARROW = '(max-width: 720px)';

function togglePanel() {
    const hidden = document.body.classList.toggle('no-panel');
    $('panel-toggle').setAttribute('aria-expanded', String(!hidden));
}

// ?budget=, ?error=, ?size=, ?edl=, ?box, ?up=: the settings of an address, so that a view can be linked to.
function settingsFrom(query) {
    const settings = { ...DEFAULTS };
    const number = (key, name, low, high) => {
        const v = Number(query.get(key));
        if (query.has(key) && Number.isFinite(v)) settings[name] = Math.min(high, Math.max(low, v));
    };
    number('budget', 'budget', 1, 1e9);
    number('error', 'maxError', 0, 1000);
    number('size', 'pointSize', 0.1, 20);
    number('edl', 'eyeDome', 0, 4);
    if (query.has('box')) settings.boundingBox = true;
    if (UP_AXES.includes(query.get('up'))) settings.up = query.get('up');
    return settings;
}

// What boot.js has begun; an address that it refused is reported here.
function boot() {
    if (!moteBoot) throw new Error('A part of this page is missing: boot.js could not be loaded.');
    if (moteBoot.error) throw moteBoot.error;
    return moteBoot;
}

// ?lonlat=1 and ?lonlat=0 say whether x and y are degrees; without it the data set does.
const lonLatOf = (query) => (query.has('lonlat') ? query.get('lonlat') !== '0' : null);

async function open(viewer, query, status) {
    const { url, requests } = boot();
    await viewer.open(url, { requests, forceWasm: query.has('wasm'), lonLat: lonLatOf(query) });
    if (query.has('hide')) viewer.hideClasses(query.get('hide').match(/\d+/g) ?? []);
    try {
        if (query.has('color')) viewer.setMode(query.get('color'));
    } catch (error) {
        status.error(`The address asks for ${error.message}.`); // the picture has other colours then
    }
    const background = query.get('background');
    if (background && [...$('background').options].some((o) => o.value === background)) {
        $('background').value = background;
        $('stage').className = `bg-${background}`;
    }
    viewer.configure({});
}

function start() {
    if (matchMedia(NARROW).matches) togglePanel();
    $('panel-toggle').addEventListener('click', togglePanel);
    const query = new URLSearchParams(location.search);
    let viewer;
    try {
        viewer = new Viewer($('canvas'), moteBoot?.pool);
    } catch (error) {
        $('splash').querySelector('.spinner').hidden = true;
        $('late').hidden = true;
        $('splash').querySelector('p').textContent =
            `This browser cannot draw with WebGL 2 (${error.message}). Another browser, or hardware acceleration in its settings, may help.`;
        const ready = Promise.reject(error);
        ready.catch(() => {}); // it is told on the page
        window.mote = { ready };
        return;
    }
    const status = new Status(viewer);
    viewer.configure(settingsFrom(query));
    const opened = open(viewer, query, status);
    new Panel(viewer);
    new Legend($('legend'), viewer);
    bindKeys(viewer, togglePanel);
    viewer.addEventListener('opened', ({ detail: meta }) => {
        showFacts(meta);
        if (meta.points === 0) status.empty();
    });
    opened.catch((error) => status.fatal(error.message));
    window.mote = createApi(viewer, opened);
}

start();
