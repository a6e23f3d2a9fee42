// Measuring by the library's code, as the page runs it: a box of known volume, in any order of points and along any axis.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Measurer } from '../../viewer/src/measure/measurer.js';
import { shown, unitsOf } from '../../viewer/src/measure/units.js';

const FILE = new URL('../../viewer/dist/measure.wasm', import.meta.url);
const skip = existsSync(FILE) ? false : 'the page was built without clang';
const module = skip ? null : new WebAssembly.Module(readFileSync(FILE));
const METRES = { metres: 1, radians: 0, vertical: 1 };

// A box of 4 x 3 x 2 m on ground of 10 m, points every 5 cm, in millimetres; place(x, y, z) -> [a, b, c]
function site(place = (...p) => p) {
    const points = [];
    for (let x = 25; x < 10000; x += 50) for (let y = 25; y < 10000; y += 50) points.push(place(x, y, Math.abs(x - 5000) < 2000 && Math.abs(y - 5000) < 1500 ? 2000 : 0));
    return points;
}
const SQUARE = [[1, 1, 0], [9, 1, 0], [9, 9, 0], [1, 9, 0]];
const MILLIMETRES = { scale: [0.001, 0.001, 0.001], offset: [0, 0, 0] };

function volumeOf(points, corners, { up = { axis: 2, sign: 1 }, isHidden = null, pieces = 7, steps = MILLIMETRES, units = METRES } = {}) {
    const measurer = new Measurer(module, units);
    measurer.setUp(up);
    measurer.shape([corners], false);
    const needsHeights = measurer.startVolume();
    assert.equal(needsHeights, corners.some((p) => p[up.axis] === null));
    measurer.setSteps(steps);
    const size = Math.ceil(points.length / pieces);
    for (let i = 0; needsHeights && i < points.length; i += size) measurer.lookAt(Int32Array.from(points.slice(i, i + size).flat()), isHidden && ((k) => isHidden(i + k)));
    if (needsHeights) assert.equal(measurer.drape(), corners.filter((p) => p[up.axis] === null).length);
    for (let i = 0; i < points.length; i += size) {
        measurer.addToVolume(Int32Array.from(points.slice(i, i + size).flat()), isHidden && ((k) => isHidden(i + k)));
        measurer.volume(); // estimates leave no trace
    }
    return measurer.volume();
}

test('a box has its volume, whatever the order of its points', { skip }, () => {
    const points = site();
    const volume = volumeOf(points, SQUARE);
    assert.ok(Math.abs(volume.above - 24) < 1e-9, `${volume.above}`);
    assert.deepEqual([volume.below, volume.area, volume.points, volume.empty], [0, 64, 160 * 160, 0]);
    assert.deepEqual(volumeOf(points.toReversed?.() ?? [...points].reverse(), SQUARE, { pieces: 3 }), volume);
    assert.ok(volumeOf(points, SQUARE, { isHidden: (i) => points[i][2] > 0 }).above < 1e-9, 'what is hidden does not count');
});

test('any axis may point up', { skip }, () => {
    const volume = volumeOf(site(), SQUARE);
    for (const [place, up] of [[(x, y, z) => [x, z, y], { axis: 1, sign: 1 }], [(x, y, z) => [x, -z, y], { axis: 1, sign: -1 }], [(x, y, z) => [z, x, y], { axis: 0, sign: 1 }]])
        assert.deepEqual(volumeOf(site(place), SQUARE.map((p) => place(...p)), { up }), volume);
});

test('a corner without a height gets that of the nearest point inside, the lowest of several, in any order of the points', { skip }, () => {
    const points = site((x, y, z) => [x, y, z + x + 2 * y]);
    // Each corner lies between four points, of which one is inside: a step of 5 cm has its middle in the corner.
    const flat = SQUARE.map(([x, y]) => [x, y, null]);
    const raised = SQUARE.map(([x, y]) => [x, y, (x + (x < 5 ? 0.025 : -0.025)) + 2 * (y + (y < 5 ? 0.025 : -0.025))]);
    const volume = volumeOf(points, flat);
    assert.deepEqual(volume, volumeOf(points, raised));
    assert.deepEqual(volumeOf(points.slice().reverse(), flat, { pieces: 3 }), volume);
    assert.deepEqual(volumeOf(points, [flat[0], ...raised.slice(1)]), volume, 'one of four');
    // Points that are hidden give no heights; of two that are as near the lower one does.
    const twice = [...points, ...points.map(([x, y, z]) => [x, y, z + 500])];
    assert.deepEqual(volumeOf(twice, flat, { isHidden: (i) => i >= points.length }), volume);
    assert.deepEqual(volumeOf(twice, flat), volumeOf(twice, raised));
    assert.throws(() => volumeOf(points, flat, { up: { axis: 1, sign: 1 } }), /third coordinate/);
});

test('what cannot be measured is told', { skip }, () => {
    assert.throws(() => volumeOf(site(), [[1, 1, 0], [9, 9, 0], [9, 1, 0], [1, 9, 0]]), /crosses itself/);
    assert.throws(() => volumeOf(site(), [[1, 1, 0], [2e15, 1, 0], [9, 9, 0]]), /coordinate/);
});

test('a profile has the points beside its line', { skip }, () => {
    const measurer = new Measurer(module, METRES);
    measurer.shape([[[1, 5, 0], [9, 5, 0]]], true);
    assert.equal(measurer.startProfile(0.5), 8);
    measurer.setSteps(MILLIMETRES);
    const points = site();
    const { indices, along, aside } = measurer.addToProfile(Int32Array.from(points.flat()), null);
    assert.equal(indices.length, 160 * 10);
    indices.forEach((index, i) => {
        assert.ok(Math.abs(along[i] - (points[index][0] / 1000 - 1)) < 1e-9);
        assert.ok(Math.abs(aside[i] - (5 - points[index][1] / 1000)) < 1e-9);
    });
});

test('figures change their unit, in all powers; kinds of feet are told apart', () => {
    assert.deepEqual(shown(2, 1, 'file'), { value: 2, unit: 'm' });
    assert.deepEqual(shown(1, 0, 'ft'), { value: 1, unit: '' }); // an unknown unit stays unknown
    assert.ok(Math.abs(shown(1, 1, 'ft', 3).value - 35.3146667) < 1e-6);
    assert.equal(shown(1, 0.3048, 'm', 2).unit, 'm');
    const survey = { crs: { metres: 0.304800609601219, verticalMetres: 1 }, isLonLat: false };
    assert.deepEqual(unitsOf(survey), { metres: 1200 / 3937, radians: 0, vertical: 1 });
    assert.deepEqual(unitsOf({ crs: null, isLonLat: false }, 'ft'), { metres: 0.3048, radians: 0, vertical: 0.3048 });
    assert.deepEqual(unitsOf({ crs: null, isLonLat: true }, 'ft').metres, 0);
});
