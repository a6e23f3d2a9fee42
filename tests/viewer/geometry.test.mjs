// Segments, circles, heights over planes, labels and round lengths.
import test from 'node:test';
import assert from 'node:assert/strict';
import { circle, cornersOfPlane, overPlane, segment } from '../../viewer/src/measure/geometry.js';
import { placeLabels } from '../../viewer/src/ui/labels.js';
import { roundLength } from '../../viewer/src/ui/scale_bar.js';
import { frameOf } from '../../viewer/src/view/up_axis.js';

const near = (a, b, tolerance = 1e-9) => assert.ok(Math.abs(a - b) <= tolerance, `${a} instead of ${b}`);
const Z = frameOf('z');
const random = (seed) => () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32);

test('a segment has its slope and its bearing, from north to the east, whatever axis points up', () => {
    for (const [to, bearing] of [[[0, 1, 0], 0], [[1, 1, 0], 45], [[1, 0, 0], 90], [[0, -2, 0], 180], [[-3, 0, 0], 270], [[-1, 1, 0], 315]]) near(segment([0, 0, 0], to, Z).bearing, bearing);
    const s = segment([1, 2, 3], [4, 6, 3 + 5], Z);
    assert.deepEqual([s.level, s.rise, s.slope, s.length], [5, 5, 45, Math.hypot(5, 5)]);
    assert.equal(segment([1, 1, 1], [1, 1, 5], Z).bearing, undefined, 'straight up there is none');
    near(segment([0, 0, 0], [0, -1, 0], frameOf('-y')).slope, 90);
    near(segment([0, 0, 0], [0, 0, -1], frameOf('y')).bearing, 0);
});

test('circles of any size and place go through their points', () => {
    for (let seed = 1; seed < 200; seed++) {
        const next = random(seed);
        const radius = 10 ** (6 * next() - 3);
        const centre = [next() * 1000, next() * 1000, next() * 100];
        const [p, q] = [next() * 3, next() * 6];
        const axes = [[Math.cos(q) * Math.cos(p), Math.sin(q) * Math.cos(p), Math.sin(p)], [-Math.sin(q), Math.cos(q), 0]];
        const at = (angle) => centre.map((c, i) => c + radius * (Math.cos(angle) * axes[0][i] + Math.sin(angle) * axes[1][i]));
        const found = circle([at(0.2), at(2 + next()), at(4.5)]);
        near(found.radius / radius, 1, 1e-6);
        found.centre.forEach((c, i) => near(c, centre[i], 1e-6 * Math.max(1, radius)));
    }
    assert.equal(circle([[0, 0, 0], [1, 1, 1], [3, 3, 3]]), null, 'in line');
    assert.equal(circle([[0, 0, 0], [0, 0, 0], [1, 0, 0]]), null, 'twice the same');
});

test('the height over a plane: level, sloped, upright, and of an equation', () => {
    const level = overPlane([[0, 0, 2], [1, 0, 2], [0, 1, 2], [5, 5, 5]], Z);
    assert.deepEqual([level.height, level.plumb, level.tilt, level.foot], [3, 3, 0, [5, 5, 2]]);
    assert.equal(overPlane([[0, 0, 2], [0, 1, 2], [1, 0, 2], [5, 5, -1]], Z).height, -3, 'below, whichever way the corners turn');
    const slope = overPlane([[0, 0, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]], Z);
    near(slope.height, Math.SQRT1_2);
    near(slope.plumb, 1);
    near(slope.tilt, 45);
    const wall = overPlane([[0, 0, 0], [0, 1, 0], [0, 0, 1], [3, 9, 9]], Z);
    near(Math.abs(wall.height), 3);
    assert.equal(wall.plumb, undefined);
    assert.equal(overPlane([[0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 0, 1]], Z), null);
    for (let seed = 1; seed < 50; seed++) {
        const next = random(seed);
        const normal = [next() - 0.5, next() - 0.5, next() - 0.5];
        const size = Math.hypot(...normal);
        const over = overPlane([...cornersOfPlane(normal, 7, [next(), next(), next()], 10), [1, 2, 3]], Z);
        near(Math.abs(over.height), Math.abs(normal[0] + 2 * normal[1] + 3 * normal[2] - 7) / size, 1e-7);
    }
});

test('labels cover neither each other nor what is taken, and stay inside', () => {
    const next = random(5);
    const labels = Array.from({ length: 80 }, () => ({ at: [next() * 500, next() * 300], width: 20 + next() * 60 }));
    const taken = labels.slice(0, 10).map(({ at: [x, y] }) => [x - 5, y - 5, x + 5, y + 5]);
    const places = placeLabels(labels, taken, [0, 0, 500, 300]);
    const boxes = places.flatMap((p, i) => (p ? [[p[0], p[1] - 11, p[0] + labels[i].width, p[1] + 4]] : []));
    assert.ok(boxes.length > 30, `${boxes.length} of 80 found room`);
    const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    boxes.forEach((a, i) => {
        assert.ok(a[0] >= 0 && a[1] >= 0 && a[2] <= 500 && a[3] <= 300);
        for (const b of [...boxes.slice(i + 1), ...taken]) assert.ok(!meet(a, b));
    });
    assert.notEqual(placeLabels([labels[0]], [], [0, 0, 500, 300])[0], null, 'what stands alone is shown');
});

test('a scale bar is as long as fits', () => {
    assert.deepEqual([0.9, 1, 1.9, 2, 4.99, 5, 99, 1234, 0.0031].map(roundLength), [0.5, 1, 1, 2, 2, 5, 50, 1000, 0.002]);
});
