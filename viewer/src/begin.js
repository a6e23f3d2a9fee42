// How a cloud is looked at first, where no address says it: upright, from the side that was seen, and a room without its
// ceiling.
import { drawnMetres } from './measure/units.js';
import { ceilingCut } from './view/ceiling.js';
import { upAxis } from './view/up_axis.js';
import { findUp, hasSeveralReturns, isSurvey, loadUpRule, sideOf } from './view/upright.js';

const MAX_POINTS = 20000; // that are looked at for a ceiling

// Turns what is up upwards, and what was seen to the front, in the points of the first node. Returns { up, reason }.
function turnUp(viewer, rule, root) {
    const { meta } = viewer.dataset;
    const { position, box } = root.payload;
    const corner = root.min.map((c, i) => c + meta.origin[i]);
    const bounds = meta.rest ?? { min: box.min.map((c, i) => c + corner[i]), max: box.max.map((c, i) => c + corner[i]) };
    const found = findUp(rule, position, corner, bounds);
    viewer.camera.set(sideOf(found.reason));
    if (found.up !== viewer.settings.up) viewer.configure({ up: found.up }); // and fits
    else viewer.fit();
    return found;
}

// Cuts off the ceiling of a room, by a filter of heights. Returns whether there is one.
function openRoom(viewer, root) {
    const { axis, sign } = upAxis(viewer.settings.up);
    const { origin, stretch } = viewer.dataset.meta;
    const { position } = root.payload;
    const [a, b] = [0, 1, 2].filter((i) => i !== axis);
    const place = (i) => [position[3 * i + a], position[3 * i + b], sign * (position[3 * i + axis] + root.min[axis])];
    if (viewer.rest || viewer.filter.isActive || hasSeveralReturns(viewer.dataset.meta)) return false;
    const step = Math.ceil(position.length / 3 / MAX_POINTS);
    const metres = drawnMetres(viewer.dataset.meta, viewer.settings.coordinates);
    const cut = ceilingCut(Math.floor(position.length / 3 / step), (i) => place(i * step), metres);
    if (cut === null) return false;
    const [low] = viewer.fullRange(viewer.modes.find(({ name }) => name === 'height'));
    viewer.setFilter('height', [low, cut / stretch[axis] + sign * origin[axis]]);
    viewer.fit();
    return true;
}

// Resolves once it is done, before the first picture. The rule for up travels while the first node does.
export async function beginView(viewer) {
    const { dataset } = viewer;
    const first = new Promise((resolve) => viewer.addEventListener('root', resolve, { once: true }));
    const rule = isSurvey(dataset.meta) ? null : loadUpRule();
    rule?.catch(() => {}); // z is up then
    await first;
    const exports = await rule?.catch(() => null);
    const found = exports ? turnUp(viewer, exports, dataset.root) : { up: 'z' };
    viewer.emit('begun', { ...found, isOpened: openRoom(viewer, dataset.root) });
}
