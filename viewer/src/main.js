// The page: makes the viewer, its panels and window.mote, and opens the data set that the address names.
import { Viewer } from './viewer.js';
import { readView } from './view_state.js';
import { Panel } from './ui/panel.js';
import { Legend } from './ui/legend.js';
import { Status } from './ui/status.js';
import { bindKeys } from './ui/keys.js';
import { Address, firstSettings } from './ui/address.js';
import { SavePoints } from './ui/save_points.js';
import { SavedViews } from './ui/views.js';
import { Tour } from './ui/tour.js';
import { Drop } from './ui/drop.js';
import { Edits } from './ui/edits.js';
import { Clouds } from './ui/clouds.js';
import { Filters } from './ui/filters.js';
import { Marks } from './measure/marks.js';
import { Overlay } from './ui/overlay.js';
import { Overlays } from './ui/overlays.js';
import { Survey } from './measure/survey.js';
import { Units } from './ui/units.js';
import { Picture } from './ui/picture.js';
import { Tools } from './ui/tools.js';
import { KeptMarks } from './ui/kept_marks.js';
import { MarksFiles } from './ui/marks_files.js';
import { MarksPanel } from './ui/marks_panel.js';
import { followPreviews } from './preview.js';
import { PointCard } from './ui/point_card.js';
import { ProfileMarks } from './ui/profile_marks.js';
import { ProfilePlot } from './ui/profile_plot.js';
import { ScaleBar } from './ui/scale_bar.js';
import { ViewCube } from './ui/view_cube.js';
import { showFacts } from './ui/facts.js';
import { t, translate } from './texts/texts.js';
import { LanguageSwitch } from './ui/language.js';
import { createApi } from './api.js';

const { moteBoot } = globalThis;
const $ = (id) => document.getElementById(id);
const NARROW = '(max-width: 720px)';

function togglePanel() {
    const hidden = document.body.classList.toggle('no-panel');
    $('panel-toggle').setAttribute('aria-expanded', String(!hidden));
}

// What boot.js has begun; an address that it refused is reported here.
function boot() {
    if (!moteBoot) throw new Error(t('page.missing'));
    if (moteBoot.error) throw moteBoot.error;
    return moteBoot;
}

// ?lonlat=1 and ?lonlat=0 say whether x and y are degrees; without it the data set does.
const lonLatOf = (query) => (query.has('lonlat') ? query.get('lonlat') !== '0' : null);

async function open(viewer, query, status, clouds) {
    const { url, requests } = boot();
    await viewer.open(url, { requests, forceWasm: query.has('wasm'), lonLat: lonLatOf(query), begins: !query.has('cam') && !query.has('up') });
    for (const more of query.getAll('data').slice(1)) await clouds.add(more);
    if (viewer.clouds.length > 1) viewer.fit();
    try {
        readView(viewer, query);
    } catch (error) {
        status.error(t('address.asks', { what: error.message })); // the picture has other colours then
    }
}

// The server that the active cloud comes from, where that is not the page's own.
function originOf(viewer) {
    const { origin } = new URL(viewer.dataset.url);
    return origin === location.origin ? null : origin;
}

// Measuring, notes and clip boxes.
function startMarks(viewer, status) {
    const marks = (viewer.marks = new Marks());
    viewer.survey = new Survey(viewer);
    const tools = new Tools(viewer, marks, status);
    const overlay = new Overlay($('overlay'), viewer, marks, () => tools.draft());
    tools.redraw = () => overlay.later();
    const card = new PointCard();
    tools.chosen = () => card.hide();
    const plot = new ProfilePlot(viewer, marks, status);
    const inPlot = new ProfileMarks(plot, viewer, marks, tools, overlay);
    plot.drawn = () => inPlot.draw();
    const open = (mark, hit = null) => {
        if (mark.kind === 'profile') plot.show(mark);
        if (mark.kind === 'plane') tools.measureOver(mark);
        if (mark.kind !== 'point') return;
        const found = hit ?? viewer.pointAt(mark.points[0]);
        if (found) card.show(found);
        else status.say(t('point.not'));
    };
    const panel = new MarksPanel(viewer, marks, overlay, status, { open, volume: (mark) => marks.add({ ...mark, kind: 'volume' }) });
    overlay.told = (mark) => tools.takePlane(mark) || panel.tell(mark);
    tools.made = (mark, hit) => {
        open(mark, hit);
        if (mark.kind === 'note') panel.rows.get(mark.id)?.text.focus();
    };
    return { marks, tools, overlay };
}

function start() {
    translate(document);
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
            t('page.webgl', { why: error.message });
        const ready = Promise.reject(error);
        ready.catch(() => {}); // it is told on the page
        window.mote = { ready };
        moteBoot?.isReady(ready);
        return;
    }
    const status = new Status(viewer);
    new Panel(viewer);
    new LanguageSwitch();
    new Filters(viewer);
    new Units(viewer);
    viewer.configure(firstSettings(query));
    viewer.renderer.compile();
    const clouds = new Clouds(viewer, status);
    const { marks, tools, overlay } = startMarks(viewer, status);
    const address = new Address(viewer);
    const views = new SavedViews(viewer, address, status);
    const files = new MarksFiles(viewer, marks, overlay, views, status);
    new Drop(viewer, clouds, files, new Overlays(viewer, files, status), status);
    new SavePoints(viewer, marks, new Edits(viewer), status);
    const keptMarks = new KeptMarks(viewer, marks, tools, status);
    const opened = open(viewer, query, status, clouds).then(async () => {
        await files.readAddresses([...query.getAll('marks'), ...[...document.querySelectorAll('meta[name=mote-marks]')].map(({ content }) => content)]);
        keptMarks.restore(query);
    });
    new Legend($('legend'), viewer);
    new ViewCube(viewer);
    new ScaleBar(viewer);
    followPreviews(viewer, status);
    const picture = new Picture(viewer, status);
    const tour = new Tour(viewer, views, picture, status);
    bindKeys(viewer, { togglePanel, views, marks, tools, picture });
    viewer.addEventListener('opened', ({ detail: meta }) => {
        showFacts(meta, viewer.settings, originOf(viewer));
        if (meta.points === 0) status.empty();
    });
    for (const type of ['active', 'settings']) {
        viewer.addEventListener(type, () => viewer.dataset?.meta && showFacts(viewer.dataset.meta, viewer.settings, originOf(viewer)));
    }
    opened.catch((error) => status.fatal(error.message));
    window.mote = createApi(viewer, opened, { address, tour });
    moteBoot?.isReady(opened);
}

start();
