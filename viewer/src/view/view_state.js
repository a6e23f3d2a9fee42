// A view as the text of an address, and back: what is seen, with the camera, the colours and all settings. The address that a
// picture was written to shows the same picture: before it is written, the camera is set to the numbers that it says.
import { markText, readMark } from '../measure/marks.js';
import { coordinates } from '../ui/format.js';
import { RETURNS } from './point_filter.js';
import { DEFAULTS, readSettings, writeSettings } from './settings.js';

const CAMERA_STEP = 1e-5; // of the distance, and in radians: a hundredth of a pixel
const MAX_MARKS_TEXT = 6000; // addresses much longer are cut by what passes them on
const CAMERA_NUMBERS = 6; // target, yaw, pitch, distance

const digitsOf = (step) => Math.max(0, Math.min(15, Math.ceil(-Math.log10(step))));

function cameraText(viewer) {
    const { target, yaw, pitch, distance } = viewer.camera.get();
    const { stretch } = viewer.dataset.meta;
    const place = viewer.toWorld(target).map((c, i) => c.toFixed(digitsOf((distance * CAMERA_STEP) / stretch[i])));
    return [...place, yaw.toFixed(5), pitch.toFixed(5), Number(distance.toPrecision(6))].join(',');
}

function readCamera(viewer, text) {
    const numbers = String(text).split(',').map(Number);
    if (numbers.length !== CAMERA_NUMBERS || !numbers.every(Number.isFinite)) return;
    const [x, y, z, yaw, pitch, distance] = numbers;
    viewer.camera.set({ target: viewer.toLocal([x, y, z]), yaw, pitch, distance });
}

// Puts the camera where its text says; the picture moves by less than is seen.
function settle(viewer) {
    const before = JSON.stringify(viewer.camera.get());
    readCamera(viewer, cameraText(viewer));
    if (JSON.stringify(viewer.camera.get()) !== before) viewer.invalidate();
}

// The range that the colours have now, where it is not that of the data set.
function rangeText(viewer) {
    const range = viewer.mode.kind === 'ramp' ? viewer.ranges.get(viewer.mode.name) : null;
    return range ? range.join(',') : null;
}

// Adds the view to a query. Of an open viewer.
export function writeView(viewer, query) {
    settle(viewer);
    writeSettings(viewer.settings, query);
    query.set('color', viewer.mode.name);
    const range = rangeText(viewer);
    if (range) query.set('range', range);
    if (viewer.filter.hidden.size > 0) query.set('hide', [...viewer.filter.hidden].sort((a, b) => a - b).join());
    for (const [name, { range }] of viewer.filter.ranges) query.append('filter', [name, ...range].join(':'));
    if (viewer.filter.returns) query.set('returns', viewer.filter.returns);
    query.set('cam', cameraText(viewer));
    const marks = viewer.marks.list.map((mark) => markText(mark, (point) => coordinates(point, viewer.dataset.meta.scale)));
    if (marks.join().length < MAX_MARKS_TEXT) for (const text of marks) query.append('mark', text); // else they are for a file
    return query;
}

// A filter is written as name:low:high. What the data set does not have is left out.
function readFilters(viewer, query) {
    viewer.clearFilters();
    if (RETURNS.includes(query.get('returns'))) viewer.setReturns(query.get('returns'));
    for (const text of query.getAll('filter')) {
        const [, name, low, high] = /^(.*):([^:]+):([^:]+)$/.exec(text) ?? [];
        const mode = viewer.modes.find((m) => m.name === name);
        if ((mode?.kind === 'ramp' || mode?.kind === 'labels') && [low, high].every((v) => Number.isFinite(Number(v)))) viewer.setFilter(name, [Number(low), Number(high)]);
    }
}

// Shows the view of a query. Throws, after all else is done, where it asks for colours that the data set has not.
export function readView(viewer, query) {
    // A text with a camera says all there is to say of the picture: what it leaves out has its default.
    const isWhole = query.has('cam');
    viewer.configure({ ...(isWhole ? DEFAULTS : {}), ...readSettings(query) });
    if (isWhole || query.has('hide')) viewer.hideClasses(query.get('hide')?.match(/\d+/g) ?? []);
    if (isWhole || query.has('filter') || query.has('returns')) readFilters(viewer, query);
    const marks = query.getAll('mark').map(readMark).filter(Boolean);
    if (marks.length > 0 || (isWhole && viewer.marks.list.length > 0)) viewer.marks.replace(marks);
    let problem = null;
    try {
        if (query.has('color')) viewer.setMode(query.get('color'));
    } catch (error) {
        problem = error;
    }
    const range = (query.get('range') ?? '').split(',').map(Number);
    if (range.length === 2 && range.every(Number.isFinite) && !problem) viewer.setRange(range);
    if (isWhole) readCamera(viewer, query.get('cam'));
    viewer.invalidate();
    if (problem) throw problem;
}
