// A view as the text of an address, and back: what is seen, with the camera, the colours and all settings. The address that a
// picture was written to shows the same picture: before it is written, the camera is set to the numbers that it says.
import { markKey, markText, readMark } from './measure/marks.js';
import { coordinates } from './ui/format.js';
import { RETURNS } from './view/point_filter.js';
import { DEFAULTS, misreadSettings, readSettings, writeSettings } from './view/settings.js';
import { t } from './texts/texts.js';

const CAMERA_STEP = 1e-5; // of the distance, and in radians: a hundredth of a pixel
const MAX_MARKS_TEXT = 6000; // addresses much longer are cut by what passes them on
const CAMERA_NUMBERS = 6; // target, yaw, pitch, distance
const ROUNDING = 4 * Number.EPSILON;
const MAX_AWAY = 1000; // sizes of what is shown, between it and a target
const MAX_ANGLE = 1e6; // radians: beyond it they lose the digits that matter
const MAX_SHOWN = 60; // characters of an address in a message
const MAX_PROBLEMS = 3; // that are said
const MAX_VALUE = 1e30; // of a range of colours, which is computed in 32-bit floats

const digitsOf = (step) => Math.max(0, Math.min(15, Math.ceil(-Math.log10(step))));

function cameraText(viewer) {
    const { target, yaw, pitch, distance } = viewer.camera.get();
    const { stretch } = viewer.dataset.meta;
    const place = viewer.toWorld(target).map((c, i) => c.toFixed(digitsOf((distance * CAMERA_STEP) / stretch[i])));
    return [...place, yaw.toFixed(5), pitch.toFixed(5), Number(distance.toPrecision(6))].join(',');
}

// The camera of a text, as drawn; null where it says none, or one that is nowhere near the data.
export function cameraOf(viewer, text) {
    const numbers = String(text).split(',').map(Number);
    if (numbers.length !== CAMERA_NUMBERS || !numbers.every(Number.isFinite) || !(numbers.at(-1) > 0)) return null;
    const [x, y, z, yaw, pitch, distance] = numbers;
    const target = viewer.toLocal([x, y, z]);
    const { min, max } = viewer.box;
    const size = Math.hypot(...max.map((m, i) => m - min[i])) || 1;
    const isNear = target.every((c, i) => c > min[i] - MAX_AWAY * size && c < max[i] + MAX_AWAY * size);
    return isNear && Math.abs(yaw) < MAX_ANGLE ? { target, yaw, pitch, distance } : null;
}

// Returns whether the text says a camera.
function readCamera(viewer, text) {
    const camera = cameraOf(viewer, text);
    if (camera) viewer.camera.set(camera);
    return camera !== null;
}

// Puts the camera where its text says; the picture moves by less than is seen.
function settle(viewer) {
    const before = JSON.stringify(viewer.camera.get());
    readCamera(viewer, cameraText(viewer));
    if (JSON.stringify(viewer.camera.get()) !== before) viewer.invalidate();
}

// What an address says of one cloud: its colours, their range, hidden classes, filters. suffix: '' of the first, '.2', ….
function writeCloud(cloud, suffix, query) {
    query.set(`color${suffix}`, cloud.mode.name);
    const range = cloud.mode.kind === 'ramp' ? cloud.ranges.get(cloud.mode.name) : null;
    if (range) query.set(`range${suffix}`, range.join());
    if (cloud.filter.hidden.size > 0) query.set(`hide${suffix}`, [...cloud.filter.hidden].sort((a, b) => a - b).join());
    for (const [name, { range: [low, high] }] of cloud.filter.ranges) query.append(`filter${suffix}`, [name, low, high].join(':'));
    if (cloud.filter.returns) query.set(`returns${suffix}`, cloud.filter.returns);
    if (!cloud.isShown) query.set(`shown${suffix}`, '0');
}

const suffixOf = (index) => (index === 0 ? '' : `.${index + 1}`);

// Adds the view to a query. Of an open viewer. ofMarks: 'clip' writes only the clip boxes, which belong to what is seen.
export function writeView(viewer, query, ofMarks = 'all') {
    settle(viewer);
    writeSettings(viewer.settings, query);
    viewer.clouds.forEach((cloud, i) => writeCloud(cloud, suffixOf(i), query));
    if (viewer.active !== viewer.clouds[0]) query.set('active', viewer.clouds.indexOf(viewer.active) + 1);
    query.set('cam', cameraText(viewer));
    const { texts, missing } = linkedMarks(viewer, ofMarks === 'clip');
    for (const text of texts) query.append('mark', text);
    if (missing > 0) query.set('unmarked', missing);
    return query;
}

// With the digits that the file has, or all where a coordinate has more, as one that another program made: it shall give the same
// figures. What differs by no more than arithmetic is the same.
const exactly = (point, scale) => coordinates(point, scale).map((text, i) => (Math.abs(Number(text) - point[i]) <= ROUNDING * Math.abs(point[i]) ? text : String(point[i])));

// The marks that an address has room for, as texts, and how many it has not: clip boxes first, as they make the picture.
export function linkedMarks(viewer, clipOnly = false) {
    const { scale } = viewer.dataset.meta;
    const list = clipOnly ? viewer.marks.boxes : viewer.marks.list;
    const texts = [];
    let room = MAX_MARKS_TEXT;
    for (const mark of [...list.filter(({ kind }) => kind === 'clip'), ...list.filter(({ kind, holes }) => kind !== 'clip' && kind !== 'plane' && !holes)]) {
        if (mark.points?.length * 6 > room) continue; // longer than the room there is, however few digits it has
        const text = markText(mark, (point) => exactly(point, scale));
        if (text.length > room) continue;
        texts.push(text);
        room -= text.length + 1;
        if (room < 20) break;
    }
    return { texts, missing: clipOnly ? 0 : list.length - texts.length };
}

// A filter is written as name:low:high. What the data set does not have is left out. Returns the texts that are no filters.
function readFilters(cloud, suffix, query) {
    cloud.clearFilters();
    const returns = query.get(`returns${suffix}`);
    if (RETURNS.includes(returns)) cloud.setReturns(returns);
    return query.getAll(`filter${suffix}`).filter((text) => {
        const [, name, low, high] = /^(.*):([^:]+):([^:]+)$/.exec(text) ?? [];
        const mode = cloud.modes.find((m) => m.name === name);
        if (![low, high].every((v) => Number.isFinite(Number(v)))) return true;
        if (mode?.kind === 'ramp' || mode?.kind === 'labels') cloud.setFilter(name, [Number(low), Number(high)]);
        return false;
    });
}

const isValue = (v) => Number.isFinite(v) && Math.abs(v) <= MAX_VALUE;

// Returns what is wrong with it.
function readCloud(viewer, cloud, suffix, query, isWhole) {
    const given = (key) => query.has(`${key}${suffix}`);
    if (isWhole || given('hide')) cloud.hideClasses(query.get(`hide${suffix}`)?.match(/\d+/g) ?? []);
    const problems = isWhole || given('filter') || given('returns') ? readFilters(cloud, suffix, query).map((text) => t('address.filter', { text: short(text) })) : [];
    if (isWhole || given('shown')) viewer.showCloud(cloud, query.get(`shown${suffix}`) !== '0');
    try {
        if (given('color')) cloud.setMode(query.get(`color${suffix}`));
    } catch (error) {
        return [...problems, error.message];
    }
    if (!given('range')) return problems;
    const range = query.get(`range${suffix}`).split(',').map(Number);
    if (range.length !== 2 || !range.every(isValue)) return [...problems, t('address.range', { text: short(query.get(`range${suffix}`)) })];
    cloud.setRange(range);
    return problems;
}

const short = (text) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

const isBox = ({ kind }) => kind === 'clip';

// The marks of a query, of which some may be none. A saved view has the clip boxes; what was measured since stays.
function readMarks(viewer, query, isWhole, isSaved) {
    const written = query.getAll('mark');
    const read = written.map(readMark);
    const marks = read.filter(Boolean);
    const { list, boxes } = viewer.marks;
    if (isSaved) {
        const keyOf = (mark) => markKey(mark, viewer.space.scale);
        const isSame = boxes.map(keyOf).join() === marks.filter(isBox).map(keyOf).join();
        if (!isSame) viewer.marks.replace([...list.filter((mark) => !isBox(mark)), ...marks.filter(isBox)]);
        viewer.marks.merge(marks.filter((mark) => !isBox(mark)), keyOf);
    } else if (marks.length > 0 || (isWhole && list.length > 0)) {
        viewer.marks.replace(marks);
    }
    return written.filter((_, i) => !read[i]).map((text) => t('address.mark', { text: short(text) }));
}

// Shows the view of a query. What makes no sense is left out; throws, after all else is done, where there was any: an error
// that goes on from "The address asks for …". isSaved: it is a saved view, not an address.
export function readView(viewer, query, isSaved = false) {
    // A text with a camera says all there is to say of the picture: what it leaves out has its default.
    const isWhole = query.has('cam');
    viewer.configure({ ...(isWhole ? DEFAULTS : {}), ...readSettings(query) });
    const problems = [
        ...misreadSettings(query).map((key) => t('address.setting', { text: `${key}=${short(query.get(key))}` })),
        ...readMarks(viewer, query, isWhole, isSaved),
        ...viewer.clouds.flatMap((cloud, i) => readCloud(viewer, cloud, suffixOf(i), query, isWhole)),
    ];
    if (query.has('active')) viewer.activate(viewer.clouds[Number(query.get('active')) - 1]);
    if (isWhole && !readCamera(viewer, query.get('cam'))) problems.push(t('address.place', { text: short(query.get('cam')) }));
    viewer.invalidate();
    if (problems.length > 0) throw new Error(problems.slice(0, MAX_PROBLEMS).join(t('address.and')));
}
