// Names and numbers that files and addresses may hold: those that every object answers to, those that are none, the very large.
import test from 'node:test';
import assert from 'node:assert/strict';
import { cleanedDraft, Marks, markText, readMark } from '../../viewer/src/measure/marks.js';
import { fromGeoJson } from '../../viewer/src/measure/geojson.js';
import { parseAttributes } from '../../viewer/src/data/attributes.js';
import { parseCrs, withUnits } from '../../viewer/src/data/crs.js';
import { parseMetadata } from '../../viewer/src/data/metadata.js';
import '../../viewer/src/texts/texts.js';
import { OrbitCamera } from '../../viewer/src/view/orbit_camera.js';
import { DEFAULTS, limited, misreadSettings, readSettings } from '../../viewer/src/view/settings.js';
import { cameraOf } from '../../viewer/src/view_state.js';
import { readLiveCamera } from '../../viewer/src/live/live_address.js';

const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '', 'x'.repeat(1e5)];
const UNTEXTABLE = { toString: 1, valueOf: 1 };
const VALUES = [...NAMES, 5, -1, null, true, ['point'], {}, UNTEXTABLE];

const feature = (properties, geometry = { type: 'Point', coordinates: [1, 2, 3] }) => ({ type: 'Feature', geometry, properties });
const collection = (...features) => JSON.stringify({ type: 'FeatureCollection', features });

test('the kind of a mark is one of the kinds, or what its shape says', () => {
    for (const kind of VALUES) {
        assert.deepEqual(fromGeoJson(collection(feature({ kind }))).map((m) => m.kind), ['note'], String(JSON.stringify(kind)).slice(0, 40));
        if (typeof kind === 'string') assert.equal(readMark(`${kind};1,2,3`), null);
        assert.equal(new Marks().add({ kind, points: [[1, 2, 3]] }), null);
    }
    assert.deepEqual(fromGeoJson(collection(feature({ kind: 'point' }))).map((m) => m.kind), ['point']);
});

test('a mark of which anything is nonsense is left out or read without it, and the others are read', () => {
    for (const value of VALUES) {
        for (const name of ['text', 'name', 'width', 'normal', 'offset', 'number', 'rms', 'inliers', 'size', 'yaw', 'inside']) {
            for (const kind of ['note', 'profile', 'plane', 'clip']) {
                const marks = fromGeoJson(collection(feature({ kind, [name]: value }), feature({ kind: 'point' })));
                assert.ok(marks.length >= 1 && marks.every((m) => typeof m.text === 'string' && m.text.length <= 2000));
                marks.forEach((m) => markText(m, (p) => p));
            }
        }
        const shapes = [{ type: value, coordinates: [1, 2, 3] }, { type: 'Polygon', coordinates: value }, { type: 'Polygon', coordinates: [value] }, { type: 'LineString', coordinates: [value, value] }, value];
        const marks = fromGeoJson(collection(...shapes.map((shape) => feature(value, shape)), value, feature(null)));
        assert.equal(marks.at(-1).kind, 'note');
    }
    assert.equal(JSON.parse('{"a": 1}').constructor, Object, 'nothing was changed');
});

test('places and sizes of marks are finite, and so is what is computed of them', () => {
    for (const number of ['1e308', '-1e308', 'NaN', 'Infinity', '1e16', 'x', '']) {
        assert.equal(readMark(`point;${number},0,x`), null);
        if (number !== '') assert.equal(readMark(`point;${number},0,0`), null);
        assert.equal(readMark(`clip;0,0,0;${number},1,x;0;in`), null);
        assert.ok(Math.abs(readMark(`clip;0,0,0;1,1,1;${number};in`).yaw) < 1e15);
    }
    assert.equal(readMark('clip;0,0,0;-1,1,1;0;in'), null);
    assert.equal(readMark('clip;0,0,0;0,1,1;0;in'), null);
    assert.equal(readMark('profile;w1e308;0,0,0;1,1,1').width, 1);
});

test('the type of an attribute is one of the types', () => {
    const position = { name: 'position', type: 'int32', numElements: 3 };
    for (const type of VALUES) assert.throws(() => parseAttributes([position, { name: 'a', type, numElements: 1 }]), /unknown type/);
    for (const name of VALUES) {
        const { attributes } = parseAttributes([position, { name, type: 'uint8', numElements: 1, min: [name], max: name }]);
        assert.equal(typeof attributes[1].name, 'string');
    }
    for (const numElements of [0, -1, 1e9, null, 'x', UNTEXTABLE]) assert.throws(() => parseAttributes([{ ...position, numElements }]), /elements/);
});

test('units of a reference system are numbers', () => {
    for (const name of NAMES.filter((n) => n && n.length < 100)) {
        const crs = withUnits(parseCrs(`+proj=utm +zone=32 +units=${name} +vunits=${name} +${name}=1`), { horizontal: { metres: name }, vertical: { metres: name } });
        assert.deepEqual([crs.kind, crs.metres, crs.radians, crs.verticalMetres], ['projected', null, null, null]);
    }
    assert.equal(parseCrs(UNTEXTABLE), null);
});

const METADATA = {
    boundingBox: { min: [0, 0, 0], max: [1, 1, 1] }, scale: [1, 1, 1], offset: [0, 0, 0], spacing: 1, encoding: 'DEFAULT', points: 1,
    hierarchy: { firstChunkSize: 22 }, attributes: [{ name: 'position', type: 'int32', numElements: 3 }],
};

test('metadata of any values is read, or refused in words', () => {
    for (const value of [...VALUES, Infinity, NaN]) {
        for (const name of ['name', 'description', 'points', 'projection', 'flags', 'spacing', 'encoding', 'mote', 'hierarchy', 'boundingBox', 'scale', 'attributes']) {
            try {
                const meta = parseMetadata({ ...METADATA, [name]: value });
                assert.ok(typeof meta.name === 'string' && typeof meta.description === 'string' && Number.isFinite(meta.points) && Number.isFinite(meta.sourcePoints) && meta.spacing > 0 && meta.spacing < 1e9);
            } catch (error) {
                assert.equal(error.name, 'DataError', `${name}: ${error.stack}`);
            }
        }
    }
    for (const points of VALUES) assert.ok(Number.isFinite(parseMetadata({ ...METADATA, mote: { points, las: { global_encoding: points }, rest: points } }).sourcePoints));
    assert.throws(() => parseMetadata({ ...METADATA, boundingBox: { min: [-1e308, 0, 0], max: [1e308, 1, 1] } }), /too large/);
});

test('settings of an address have limits; what is none is told', () => {
    const read = (text) => readSettings(new URLSearchParams(text));
    assert.deepEqual(read('budget=1e308&error=1e308&size=-5&edl=1e9&gamma=0'), { budget: 1e8, maxError: 1000, pointSize: 0.1, eyeDome: 4, gamma: 0.2 });
    const wrong = 'budget=NaN&error=x&size=&sizing=constructor&ramp=__proto__&up=toString&background=1&theme=[]&gamma=Infinity&edl=Infinity';
    assert.deepEqual(read(wrong), {});
    assert.deepEqual(misreadSettings(new URLSearchParams(wrong)), ['budget', 'error', 'size', 'sizing', 'edl', 'gamma', 'ramp', 'up', 'background', 'theme']);
    assert.deepEqual(misreadSettings(new URLSearchParams('budget=5&up=y&box&constructor=1')), []);
    assert.equal(limited('budget', NaN), DEFAULTS.budget);
    assert.equal(limited('budget', -3), 1);
});

test('a camera of an address is near the data, or none', () => {
    const viewer = { toLocal: (p) => p.map((c) => c - 100), box: { min: [0, 0, 0], max: [10, 10, 10] } };
    assert.deepEqual(cameraOf(viewer, '105,105,105,1,0.5,20'), { target: [5, 5, 5], yaw: 1, pitch: 0.5, distance: 20 });
    for (const text of ['1e308', '1e308,0,0,0,0,1', '0,0,-1e308,0,0,1', '1e9,0,0,0,0,1', '0,0,0,1e308,0,1', '0,0,0,0,0,0', '0,0,0,0,0,-1', '0,0,0,0,0,NaN', '0,0,0,0,0,Infinity', '', '1,2,3,4,5,6,7'])
        assert.equal(cameraOf(viewer, text), null, text);
    const camera = new OrbitCamera();
    camera.set({ target: [NaN, 0, 0], yaw: NaN, pitch: Infinity, distance: NaN });
    assert.ok(camera.position().every(Number.isFinite));
    for (const cam of ['1e308,0,0,0,0,1', '0,0,0,0,0,1e308', '1,2,3', 'constructor']) assert.equal(readLiveCamera(new URLSearchParams({ cam })), null);
});

test('a draft that the browser kept is one, or none', () => {
    const p = [[0, 0, 0], [1, 1, 1]];
    assert.deepEqual(cleanedDraft({ kind: 'distance', points: [...p, [2, 2, 2, 9]], more: 1 }), { kind: 'distance', points: [...p, [2, 2, 2]] });
    for (const bad of [null, 7, {}, { kind: 'clip', points: p }, { kind: 'toString', points: p }, { kind: 'height', points: p }, { kind: 'area', points: [] }, { kind: 'area', points: [[0, 0]] }, { kind: 'area', points: [[0, 0, 'x']] }, { kind: 'area', points: 'abc' }]) assert.equal(cleanedDraft(bad), null);
});
