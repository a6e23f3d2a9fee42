// What is seen and picked: hidden classes, zooming over the background, axes that point up, colours that say something.
import test from 'node:test';
import assert from 'node:assert/strict';
import { PointFilter } from '../../viewer/src/view/point_filter.js';
import { nearestSeen, pick, seesAny, shownBox } from '../../viewer/src/view/pick.js';
import { OrbitCamera } from '../../viewer/src/view/orbit_camera.js';
import { frameOf, heightRange, upAxis, UP_AXES } from '../../viewer/src/view/up_axis.js';
import { channelValues, colourModes, defaultMode, isBlack, paletteMap, quantileRange } from '../../viewer/src/view/colouring.js';
import { labelColour } from '../../viewer/src/view/palettes.js';
import { NO_VALUE } from '../../viewer/src/data/decode.js';
import { parseMetadata } from '../../viewer/src/data/metadata.js';
import { belongsToControl, keyName } from '../../viewer/src/ui/keys.js';
import { sumByLevel } from '../../viewer/src/view/statistics.js';
import { frames } from '../../viewer/src/view/camera_path.js';
import { crc32, zip } from '../../viewer/src/data/zip.js';
import { minPointPixels } from '../../viewer/src/cloud.js';

const CHANNEL = { key: 'classification', base: 0 };

function nodeOf(points, classes, min = [0, 0, 0]) {
    const box = { min: [0, 1, 2].map((i) => Math.min(...points.map((p) => p[i]))), max: [0, 1, 2].map((i) => Math.max(...points.map((p) => p[i]))) };
    return {
        level: 0, min, numPoints: points.length,
        payload: { position: new Float32Array(points.flat()), box, scalars: new Map([['classification', { values: new Uint8Array(classes) }]]) },
    };
}

const DOWN = { origin: [0, 0, 10], direction: [0, 0, -1] };

test('hidden classes are neither picked nor counted nor part of the box', () => {
    const node = nodeOf([[0, 0, 5], [0, 0, 0], [3, 0, 0]], [7, 2, 2]);
    const filter = new PointFilter(CHANNEL);
    const hiddenIn = (n) => filter.hiddenIn(n);
    filter.learn(node);
    assert.deepEqual([...filter.codes], [7, 2]);
    assert.deepEqual(pick([node], DOWN, 0.01, hiddenIn).point, [0, 0, 5]);
    assert.equal(hiddenIn(node), null, 'nothing is hidden: nothing is looked up');
    filter.hide([7]);
    assert.deepEqual(pick([node], DOWN, 0.01, hiddenIn).point, [0, 0, 0]);
    assert.equal(filter.countVisible(node), 2);
    assert.deepEqual(sumByLevel([node], (n) => filter.countVisible(n)), [2]);
    assert.deepEqual(shownBox([node], hiddenIn), { min: [0, 0, 0], max: [3, 0, 0] });
    filter.hide([7, 2]);
    assert.equal(pick([node], DOWN, 0.01, hiddenIn), null);
    assert.equal(nearestSeen([node], DOWN, [], hiddenIn), null);
    assert.ok(!seesAny([node], [], hiddenIn));
    assert.equal(shownBox([node], hiddenIn), null);
    assert.equal(filter.countVisible(node), 0);
    assert.deepEqual([...filter.maskOf(node).flags], [1, 1, 1]);
});

test('classes relative to a base, without a channel, and from a histogram', () => {
    const node = nodeOf([[0, 0, 5], [0, 0, 0]], [0, 1]);
    const filter = new PointFilter({ ...CHANNEL, base: 5 });
    filter.learn(node);
    assert.deepEqual([...filter.codes], [5, 6]);
    filter.hide([6]);
    assert.equal(filter.countVisible(node), 1);
    const none = new PointFilter(null);
    none.hide([2]);
    assert.equal(none.hiddenIn(node), null);
    assert.equal(none.countVisible(node), 2);
    assert.deepEqual([...new PointFilter(CHANNEL, [0, 4, 0, 1]).codes], [1, 3], 'empty classes are not listed');
});

test('ranges, returns and heights hide points; what a filter does not know yet is hidden', () => {
    const node = nodeOf([[0, 0, 5], [0, 0, 1], [3, 0, 0], [4, 0, 2]], [7, 2, 2, 2], [100, 0, 10]);
    const scalar = (key, values) => node.payload.scalars.set(key, { key, values });
    const time = { key: 'time', base: 1000, scale: 0.5, shift: 10 };
    const [number, count] = [{ key: 'n' }, { key: 'of' }];
    const filter = new PointFilter(CHANNEL, [], { number, count });
    Object.assign(filter, { space: { origin: [0, 0, 200], stretch: [1, 1, 1], scale: [0.01, 0.01, 0.01], up: 'z' } });
    const shown = () => {
        filter.changed();
        return node.payload.position.length / 3 === filter.countVisible(node) ? 'all' : [...filter.maskOf(node).flags].map((f) => 1 - f).join('');
    };
    filter.ranges.set('height', { channel: null, range: [211, 212] });
    assert.equal(shown(), '0101');
    filter.ranges.set('time', { channel: time, range: [510.5, 511] });
    assert.equal(shown(), '0000', 'times are not there yet');
    scalar('time', new Float32Array([0, 1, 2, NO_VALUE]));
    node.mask = null;
    assert.equal(shown(), '0100');
    filter.ranges.clear();
    filter.ranges.set('time', { channel: time, range: [0, 1e300] });
    assert.equal(shown(), '1110', 'what is not a number is in no range');
    filter.ranges.clear();
    scalar('n', new Uint8Array([1, 1, 2, 3]));
    scalar('of', new Uint8Array([1, 3, 3, 3]));
    for (const [returns, flags] of [['first', '1100'], ['last', '1001'], ['only', '1000'], ['between', '0010']]) {
        filter.returns = returns;
        assert.equal(shown(), flags, returns);
    }
    filter.returns = null;
    assert.equal(shown(), 'all');
});

test('over the background the point that is nearest on the screen counts, whatever its depth', () => {
    const node = nodeOf([[5, 0, 0], [-3, 0, 8], [100, 0, 9]], [2, 2, 2]);
    assert.equal(pick([node], DOWN, 0.01), null);
    assert.deepEqual(nearestSeen([node], DOWN, []).point, [5, 0, 0], '5 aside at depth 10 is nearer than 3 at depth 2');
    const planes = [[-1, 0, 0, 2]]; // x <= 2
    assert.deepEqual(nearestSeen([node], DOWN, planes).point, [-3, 0, 8], 'what is not on the screen does not count');
    assert.ok(seesAny([node], planes));
    assert.ok(!seesAny([node], [[-1, 0, 0, -50]]));
    assert.ok(!seesAny([], []));
    const shifted = nodeOf([[0, 0, 0]], [2], [7, 0, 0]);
    assert.deepEqual(nearestSeen([shifted], DOWN, [[1, 0, 0, -6]]).point, [7, 0, 0], 'planes are those of the data set, not of the node');
});

test('zooming about such a point brings it nearer and keeps it in view', () => {
    const camera = new OrbitCamera();
    camera.fit({ min: [0, 0, 0], max: [100, 100, 10] });
    const point = [100, 100, 10];
    for (let i = 0; i < 60; i++) camera.zoomAbout(point, 0.8);
    const inside = camera.planes().every(([a, b, c, d]) => a * point[0] + b * point[1] + c * point[2] + d >= 0);
    assert.ok(inside);
    assert.ok(Math.hypot(...camera.position().map((c, i) => c - point[i])) < 1);
});

test('any axis up: the frame is right-handed, the view looks at the data from the front', () => {
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    for (const up of UP_AXES) {
        const [x, y, z] = frameOf(up);
        assert.deepEqual(cross(x, y).map((c) => c + 0), z);
        const camera = new OrbitCamera();
        camera.frame = frameOf(up);
        camera.set({ yaw: 0.4, pitch: 0.3 });
        const box = { min: [0, 0, 0], max: [10, 20, 30] };
        camera.fit(box);
        for (let k = 0; k < 8; k++) {
            const p = box.min.map((m, i) => ((k >> i) & 1 ? box.max[i] : m));
            assert.ok(camera.planes().every(([a, b, c, d]) => a * p[0] + b * p[1] + c * p[2] + d >= -1e-9), `corner ${p} with ${up} up`);
        }
        const { axis, sign } = upAxis(up);
        assert.ok(camera.axes().up[axis] * sign > 0.9, 'up on the screen');
        assert.ok((camera.position()[axis] - box.max[axis] / 2) * sign > 0, 'the eye stands above');
    }
    assert.deepEqual(heightRange({ min: [1, 2, 3], max: [4, 5, 6] }, '-y'), [-5, -2]);
    assert.deepEqual(frameOf('nonsense'), frameOf('z'));
});

const metaOf = (attributes) => parseMetadata({
    points: 1, offset: [0, 0, 0], scale: [1, 1, 1], spacing: 1, boundingBox: { min: [0, 0, 0], max: [1, 1, 1] }, encoding: 'DEFAULT',
    hierarchy: { firstChunkSize: 22 }, attributes: [{ name: 'position', type: 'int32', numElements: 3 }, ...attributes],
});
const rgbOf = (min, max) => ({ name: 'rgb', type: 'uint16', numElements: 3, min, max });

test('RGB is offered where there are colours and chosen where they differ', () => {
    const modes = (meta) => colourModes(meta).map((m) => m.name);
    const start = (meta) => defaultMode(meta, colourModes(meta)).name;
    const black = metaOf([rgbOf([0, 0, 0], [0, 0, 0])]);
    assert.ok(!modes(black).includes('rgb'));
    assert.equal(start(black), 'height');
    const white = metaOf([rgbOf([65535, 65535, 65535], [65535, 65535, 65535])]);
    assert.ok(modes(white).includes('rgb'));
    assert.equal(start(white), 'height');
    assert.equal(start(metaOf([rgbOf([0, 0, 0], [0, 1, 0])])), 'rgb');
    assert.equal(start(metaOf([{ name: 'rgb', type: 'uint16', numElements: 3 }])), 'rgb', 'unknown until the first node');
    assert.ok(isBlack({ rgb: new Uint8Array([0, 0, 0, 255, 0, 0, 0, 255]) }));
    assert.ok(!isBlack({ rgb: new Uint8Array([0, 0, 0, 255, 0, 1, 0, 255]) }));
});

test('attributes called like modes or like each other can all be chosen; what never changes says so', () => {
    const scalar = (name, min, max) => ({ name, type: 'float', numElements: 1, min: [min], max: [max] });
    const modes = colourModes(metaOf([scalar('height', 0, 1), scalar('Level', 0, 1), scalar('Intensity', 0, 0), scalar('intensity', 0, 9), scalar('user data', 3, 3)]));
    assert.equal(new Set(modes.map((m) => m.name)).size, modes.length);
    assert.equal(new Set(modes.map((m) => m.label)).size, modes.length);
    assert.equal(modes.at(-1).label, 'User data (always 3)');
    const angle = colourModes(metaOf([{ name: 'scan angle rank', type: 'int8', numElements: 1, min: [-9], max: [9] }])).at(-1);
    assert.equal(angle.label, 'Scan angle');
});

test('classes in wider integers are classes; in fractions they are numbers', () => {
    const kind = (type, min, max) => colourModes(metaOf([{ name: 'classification', type, numElements: 1, min: [min], max: [max] }]))
        .find((m) => m.name === 'classification').kind;
    assert.equal(kind('uint8', 0, 255), 'classes');
    assert.equal(kind('int32', 1, 18), 'classes');
    assert.equal(kind('int32', 1, 3000), 'ramp');
    assert.equal(kind('float', 1, 18), 'ramp');
});

test('numbers that name things have a colour each', () => {
    const kind = (name, type) => colourModes(metaOf([{ name, type, numElements: 1, min: [-1], max: [20] }])).find((m) => m.name === name).kind;
    assert.equal(kind('plane', 'int32'), 'labels');
    assert.equal(kind('point source id', 'uint16'), 'labels');
    assert.equal(kind('tree_id', 'uint32'), 'labels');
    assert.equal(kind('plane', 'float'), 'ramp');
    assert.equal(kind('plane distance', 'int32'), 'ramp');
    const colours = [...Array(256).keys()].map(labelColour);
    assert.ok(colours.flat().every((c) => Number.isInteger(c) && c >= 0 && c <= 255));
    for (let i = 0; i < 255; i++) assert.ok(Math.hypot(...colours[i].map((c, k) => c - colours[i + 1][k])) > 60, `${i}: ${colours[i]} beside ${colours[i + 1]}`);
    assert.deepEqual(paletteMap({ kind: 'labels' }, [-1, 20], { base: -1, scale: 1, shift: 0 }), [1 / 256, -0.5 / 256]);
});

test('palette and ranges count in the values that people see, and pass over what has none', () => {
    const channel = { base: 1000, scale: 0.006, shift: 1 };
    const [scale, shift] = paletteMap({ kind: 'ramp' }, [7, 13], channel);
    assert.ok(Math.abs(0 * scale + shift) < 1e-12, 'stored 1000 is 7');
    assert.ok(Math.abs(1000 * scale + shift - 1) < 1e-12, 'stored 2000 is 13');
    assert.deepEqual(paletteMap({ kind: 'classes' }, [0, 0], { base: 2, scale: 1, shift: 0 }), [1 / 256, 2.5 / 256]);
    const plain = { base: 0, scale: 1, shift: 0 };
    assert.deepEqual(channelValues(plain, [1, NO_VALUE, 3], (i) => i === 2), [1]);
    assert.deepEqual(quantileRange([NaN, 1, 2, Infinity, 3]), [1, 3]);
    assert.equal(quantileRange([5, 5]), null);
    assert.equal(quantileRange([NaN]), null);
});

test('keys: controls keep what they need, other scripts find their letters', () => {
    const control = (tagName, type) => ({ tagName, type });
    assert.ok(!belongsToControl(null, 't'));
    for (const key of ['t', 'ArrowLeft', 'b']) assert.ok(!belongsToControl(control('INPUT', 'checkbox'), key));
    assert.ok(belongsToControl(control('INPUT', 'checkbox'), ' '));
    assert.ok(!belongsToControl(control('INPUT', 'range'), 't'));
    assert.ok(belongsToControl(control('INPUT', 'range'), 'ArrowLeft'));
    assert.ok(belongsToControl(control('SELECT'), 't'));
    assert.ok(belongsToControl(control('INPUT', 'number'), '1'));
    const known = (name) => ['t', '+', 'shift+ArrowUp', '?'].includes(name);
    assert.equal(keyName({ key: 'T', code: 'KeyT' }, known), 't');
    assert.equal(keyName({ key: 'е', code: 'KeyT' }, known), 't', 'Cyrillic');
    assert.equal(keyName({ key: 'z', code: 'KeyY' }, known), 'z', 'a German keyboard');
    assert.equal(keyName({ key: 'ArrowUp', code: 'ArrowUp', shiftKey: true }, known), 'shift+ArrowUp');
});

test('few points are drawn large enough to be found', () => {
    assert.deepEqual([1, 1000, 5000, 1e6].map(minPointPixels), [6, 6, 3, 1.5]);
});

test('the way between two views goes the short way round and ends where they are', () => {
    const a = { target: [0, 0, 0], yaw: 3, pitch: 0, distance: 1 };
    const b = { target: [10, 0, 0], yaw: -3, pitch: 1, distance: 100 };
    const list = frames([a, b, a], 10);
    assert.equal(list.length, 21);
    assert.deepEqual(list[0], a);
    assert.deepEqual(list[20], a);
    assert.ok(Math.abs(list[5].distance - 10) < 1e-9, 'distances change by factors');
    assert.ok(Math.abs(list[5].yaw - Math.PI) < 1e-9);
});

test('a .zip file is what unzip expects', () => {
    const files = [{ name: 'ä 1.txt', bytes: new TextEncoder().encode('123456789') }, { name: 'b', bytes: new Uint8Array(0) }];
    assert.equal(crc32(files[0].bytes), 0xcbf43926);
    const bytes = Buffer.concat(zip(files).map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)));
    assert.equal(bytes.readUInt32LE(bytes.length - 22), 0x06054b50);
    const directory = bytes.readUInt32LE(bytes.length - 6);
    assert.equal(bytes.readUInt32LE(directory), 0x02014b50);
    assert.equal(bytes.readUInt32LE(directory + 16), 0xcbf43926);
    const at = bytes.readUInt32LE(directory + 42);
    assert.equal(bytes.readUInt32LE(at), 0x04034b50);
    assert.equal(bytes.toString('utf8', at + 30 + bytes.readUInt16LE(at + 26), at + 30 + bytes.readUInt16LE(at + 26) + 9), '123456789');
});

test('turning about a point leaves it where it is on the screen, at its distance', () => {
    for (const axis of ['z', 'y', '-x']) {
        const camera = new OrbitCamera();
        camera.frame = frameOf(axis);
        camera.set({ target: [1, 2, 3], yaw: 0.4, pitch: 0.3, distance: 9 });
        const point = [2, 0.5, 4];
        const before = camera.project(point);
        for (const [yaw, pitch] of [[0.5, 0], [0, -0.7], [-1.2, 3]]) { // the last one up to where it ends
            camera.rotateAbout(point, yaw, pitch);
            const after = camera.project(point);
            for (const key of ['x', 'y', 'depth']) assert.ok(Math.abs(after[key] - before[key]) < 1e-9, `${axis} ${key}: ${after[key]}, ${before[key]} before`);
        }
        assert.notDeepEqual(camera.target, [1, 2, 3]);
    }
});
