// What is inside a polygon, and LAS that the page writes.
import test from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { Measurer } from '../../viewer/src/measure/measurer.js';
import { areaFeature, compile, filterOf, requestOf } from '../../viewer/src/save/selection.js';
import { LasFile } from '../../viewer/src/save/las_file.js';
import { marksToDxf } from '../../viewer/src/measure/dxf.js';
import { heightsOver } from '../../viewer/src/measure/drape.js';
import { readGeoJson, toGeoJson, toMarks } from '../../viewer/src/measure/geojson.js';
import { cleaned, markKey, Marks, markText, readMark, ringsOf } from '../../viewer/src/measure/marks.js';
import { horizontalText, looksLikeDegrees } from '../../viewer/src/data/places.js';

const WASM = new URL('../../viewer/dist/measure.wasm', import.meta.url);
const module = existsSync(WASM) ? new WebAssembly.Module(readFileSync(WASM)) : null;
const skip = module ? false : 'viewer/dist has no measure.wasm: npm run build makes it, with clang and lld';
const regionOf = (polygons) => new Measurer(module, {}).region(polygons);
const compiled = (request) => compile(request, module);

function random(seed) {
    return () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32);
}

// By whole numbers and winding: inside, or on a border.
function holds(rings, x, y) {
    let inside = false;
    for (const ring of rings) {
        ring.forEach(([x1, y1], i) => {
            const [x2, y2] = ring[(i + 1) % ring.length];
            const cross = BigInt(x2 - x1) * BigInt(y - y1) - BigInt(y2 - y1) * BigInt(x - x1);
            const isOn = cross === 0n && Math.min(x1, x2) <= x && x <= Math.max(x1, x2) && Math.min(y1, y2) <= y && y <= Math.max(y1, y2);
            if (isOn) inside = 'on';
            if (inside !== 'on' && (y1 > y) !== (y2 > y) && (y2 > y1 ? cross > 0n : cross < 0n)) inside = !inside;
        });
    }
    return inside !== false;
}

test('places in polygons, on their borders and corners, at coordinates of any size', { skip }, () => {
    for (let seed = 1; seed <= 60; seed++) {
        const next = random(seed);
        const size = 3 + Math.floor(next() * 12);
        const scale = [1, 0.001, 0.01, 1e-7][seed % 4];
        const offset = [0, 500000, -5400000][seed % 3];
        const ring = () => Array.from({ length: 3 + Math.floor(next() * 5) }, () => [Math.floor(next() * size), Math.floor(next() * size)]);
        const rings = seed % 2 ? [ring()] : [ring(), ring()];
        const real = (n) => n * scale + offset;
        const region = regionOf([rings.map((r) => r.map(([x, y]) => [real(x), real(y)]))]);
        for (let x = -1; x <= size; x++) for (let y = -1; y <= size; y++) assert.equal(region.contains(real(x), real(y)), holds(rings, x, y), `seed ${seed}: ${x}, ${y} of ${JSON.stringify(rings)}`);
    }
});

const place = (points) => (i) => points[i];
const node = (points, more = {}) => ({ count: points.length, place: place(points), values: (name) => more[name] ?? null, classes: more.classes ?? null });
const square = (x0, y0, x1, y1) => [[x0, y0, 0], [x1, y0, 0], [x1, y1, 0], [x0, y1, 0]];

test('a request keeps what lies in polygons and boxes and passes the filters; a written one decides the same', { skip }, () => {
    const points = [];
    for (let x = 0; x <= 10; x++) for (let y = 0; y <= 10; y++) points.push([x, y, x + y]);
    const kept = (request) => compiled(JSON.parse(JSON.stringify(request))).keep(node(points, { intensity: points.map(([x]) => x * 10), classes: Uint8Array.from(points, ([, y]) => y % 3) })).map((i) => points[i]);
    const filter = (more) => filterOf({ hidden: new Set(), channel: {}, returns: null, ranges: new Map(), ...more }, { scale: [1, 1, 1], stretch: [1, 1, 1] }, more.boxes ?? [], { axis: 2, sign: 1 });
    assert.equal(kept(requestOf([], [], null)).length, 121);
    const withHole = areaFeature([[square(2, 2, 8, 8), square(4, 4, 6, 6)]], 2);
    assert.equal(kept(requestOf([], [withHole], null)).length, 49 - 1, 'a border of a hole is inside');
    assert.equal(kept(requestOf([], [areaFeature([[square(0, 0, 1, 1)], [square(5, 5, 6, 6)]], 2)], null)).length, 8);
    assert.deepEqual(kept(requestOf([], [withHole], filter({ hidden: new Set([0, 1]) }))).filter(([, y]) => y % 3 !== 2), []);
    assert.equal(kept(requestOf([], [], filter({ ranges: new Map([['intensity', { channel: { key: 'intensity' }, range: [20, 30] }]]) }))).length, 22);
    assert.equal(kept(requestOf([], [], filter({ ranges: new Map([['height', { channel: null, range: [3, 4] }]]) }))).length, 4 + 5);
    const box = { center: [5, 5, 5], size: [Math.SQRT2 * 4.01, Math.SQRT2 * 4.01, 100], yaw: Math.PI / 4, inside: true };
    assert.equal(kept(requestOf([], [], filter({ boxes: [box] }))).length, 41, 'a square that stands on a corner');
    assert.equal(kept(requestOf([], [], filter({ boxes: [{ ...box, inside: false }] }))).length, 80);
    assert.equal(kept(requestOf([], [withHole], filter({ boxes: [box] }))).length, 37 - 1 + 0);
    const { bounds } = compiled(requestOf([], [withHole], filter({ boxes: [{ ...box, size: [2, 2, 4], yaw: 0 }] })));
    assert.ok(bounds.min[0] <= 4 && bounds.max[0] >= 6 && bounds.min[0] > 3 && bounds.max[2] === 7);
    // A slice bounds what is read, alone and within a polygon, with the half step that heights have.
    const slice = filter({ ranges: new Map([['height', { channel: null, range: [3, 4] }]]) });
    assert.deepEqual(compiled(requestOf([], [], slice)).bounds, { min: [-Infinity, -Infinity, 2.5], max: [Infinity, Infinity, 4.5] });
    assert.deepEqual(compiled(requestOf([], [withHole], slice)).bounds, { min: [2, 2, 2.5], max: [8, 8, 4.5] });
});

test('edits follow each other, and see the classes that those before them gave', { skip }, () => {
    const points = [[1, 1, 0], [2, 2, 5], [3, 3, 0]];
    const classes = Uint8Array.from([1, 1, 2]);
    const edit = (properties) => areaFeature([[square(0, 0, 2, 2)]], 2, properties);
    const changed = compiled(requestOf([edit({ class: 6, low: 1 }), edit({ class: 9, filter: { hide: [6] } })], [], null)).classify(node(points, { classes }));
    assert.deepEqual([...classes, changed], [9, 6, 2, 2]);
});

test('other axes may point up', { skip }, () => {
    const feature = areaFeature([[[[1, 0, 1], [3, 0, 1], [3, 0, 3], [1, 0, 3]]]], 1, {});
    assert.equal(feature.properties.up, 'y');
    assert.deepEqual(compiled(requestOf([], [feature], null)).keep(node([[2, 99, 2], [2, 2, 99]])), [0]);
});

test('LAS of records: counts, bounds, extra bytes', async () => {
    const channels = [{ key: 'intensity', type: 'uint16', scale: 1, shift: 0 }, { key: 'depth', type: 'float', scale: 1, shift: 0 }, { key: 'big', type: 'uint64', scale: 0.5, shift: 1 }];
    const las = LasFile.of({ scale: [0.01, 0.01, 0.01], offset: [10, 0, 0], projection: '', globalEncoding: 1 }, channels);
    const stored = { depth: [1.5, 2.5], big: [7, 8] };
    las.add(las.records([1], Int32Array.from([0, 0, 0, 100, 200, 300]), (key) => stored[key], (name) => ({ intensity: [1, 500], 'return number': [1, 2] })[name] ?? null));
    const bytes = new DataView(await las.blob().arrayBuffer());
    assert.equal(Number(bytes.getBigUint64(247, true)), 1);
    assert.equal(Number(bytes.getBigUint64(263, true)), 1, 'second returns');
    assert.deepEqual([bytes.getFloat64(179, true), bytes.getFloat64(187, true), bytes.getUint16(105, true)], [11, 11, 48]);
    const at = bytes.getUint32(96, true);
    assert.deepEqual([bytes.getInt32(at, true), bytes.getUint16(at + 12, true), bytes.getFloat32(at + 36, true), Number(bytes.getBigUint64(at + 40, true))], [100, 500, 2.5, 8]);
});

test('GeoJSON of all geometries, with reasons for what is left out', () => {
    const g = (type, coordinates, properties = {}) => ({ type: 'Feature', geometry: { type, coordinates }, properties });
    const line = [[0, 0], [1, 1, 5]];
    const read = readGeoJson(JSON.stringify({ type: 'FeatureCollection', features: [
        g('MultiLineString', [line, line]), g('MultiPolygon', [[[[0, 0], [1, 0], [1, 1], [0, 0]]]]), g('Polygon', [[[0, 0], [9, 0], [9, 9], [0, 0]], [[1, 1], [2, 1], [2, 2], [1, 1]]]),
        g('Polygon', [[[0, 0], [1, 1], [0, 0]]]), g('Nonsense', []), g('Point', []), { type: 'Feature', geometry: null },
    ] }));
    const marks = toMarks(read, { heightAt: (x, y) => 100 * x + y });
    assert.deepEqual(marks.map(({ kind, points }) => [kind, points.length]), [['distance', 2], ['distance', 2], ['area', 3], ['area', 3]]);
    assert.deepEqual(marks[0].points, [[0, 0, 0], [1, 1, 5]]);
    assert.deepEqual(marks[3].holes, [[[1, 1, 101], [2, 1, 201], [2, 2, 202]]]);
    assert.equal(String(read.reasons), '1 of a type that is not read (Nonsense), 1 without coordinates, 1 without a geometry, 1 with too few corners for its kind (area)');
    for (const text of ['{"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]]}', '{"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [1,2]}]}']) assert.equal(toMarks(readGeoJson(text)).length, 1);
    assert.throws(() => readGeoJson('{"type": "Topology"}'), /no features/);
    // A text for each feature, as RFC 8142 and GDAL write them.
    const lines = ['a', 'b'].map((text) => JSON.stringify(g('LineString', line, { text })));
    for (const text of [lines.join('\n'), `${lines.join('\r\n')}\n`, `\x1e${lines.join('\n\x1e')}\n`]) assert.deepEqual(toMarks(readGeoJson(text)).map((mark) => mark.text), ['a', 'b']);
    assert.throws(() => readGeoJson(`${lines[0]}\n3`), /JSON/);
});

test('what is written is read again as it was, whatever its kind', () => {
    const p = [[1.5, 2.25, 3], [4, 5, 6], [7, 9, 9]];
    const list = [
        { kind: 'point', points: [p[0]], text: 'a "b"\n' }, { kind: 'distance', points: p, text: '' }, { kind: 'angle', points: p, text: '' }, { kind: 'area', points: p, text: 'x', holes: [p] },
        { kind: 'profile', points: p, text: '', width: 0.25 }, { kind: 'clip', center: p[1], size: [1, 2, 3], yaw: 0.5, inside: false, text: 'box' },
        { kind: 'plane', points: p, normal: [0, 0, 1], offset: 3, number: 7, rms: 0.1, inliers: 10, text: '' }, { kind: 'note', points: [p[2]], text: 'n', more: [['owner', 'me'], ['__proto__', 1]] },
    ];
    const marks = new Marks();
    marks.replace(list);
    assert.equal(marks.list.length, list.length);
    for (const crs of [{ code: 25832 }, null]) {
        const text = JSON.stringify(toGeoJson(marks.list, { figures: () => ({ length: 1 }), crs, projection: '' }));
        assert.equal(JSON.parse(text).crs?.properties.name, crs ? 'urn:ogc:def:crs:EPSG::25832' : undefined);
        const again = toMarks(readGeoJson(text));
        const scale = [0.001, 0.001, 0.001];
        const sorted = (mark) => ({ ...mark, points: mark.points && [...mark.points].sort(), holes: mark.holes?.map((ring) => [...ring].sort()) });
        assert.deepEqual(again.map((m) => markKey(sorted(m), scale)), marks.list.map((m) => markKey(sorted(m), scale)));
        assert.deepEqual(marks.merge(again.filter(({ kind }) => kind !== 'area' && kind !== 'plane'), (m) => markKey(m, scale)).added, 0);
    }
});

test('marks are shared between remembered lists, and a change makes a new one', () => {
    const marks = new Marks();
    const one = marks.add({ kind: 'note', points: [[1, 2, 3]], text: 'a' });
    marks.alter(one.id, (m) => (m.text = 'b'));
    assert.deepEqual([one.text, marks.list[0].text], ['a', 'b']);
    marks.undo();
    assert.equal(marks.list[0], one);
    marks.redo();
    assert.equal(marks.list[0].text, 'b');
});

test('heights of a cloud: of the nearest point, none far from all', () => {
    const points = [];
    for (let x = 0; x < 50; x++) for (let y = 0; y < 50; y++) points.push(x, y, 10 * x + y);
    const at = heightsOver(points, [0, 0], [49, 49]);
    assert.equal(at(12.2, 30.3), 150);
    assert.equal(at(0, 49), 49);
    assert.equal(heightsOver(points, [0, 0], [1000, 1000])(500, 500), null);
    assert.equal(heightsOver([], [0, 0], [1, 1])(0, 0), null);
});

test('DXF: pairs of lines, ASCII or code page 1252', () => {
    const bytes = marksToDxf([{ kind: 'note', points: [[1, 2, 3]], text: 'ü€漢\n' }], (m) => m.text, () => []);
    const lines = Buffer.from(bytes).toString('latin1').split('\r\n');
    assert.equal(lines.length % 2, 1);
    assert.ok(lines.includes('ü\x80\\U+6F22 '), 'what code page 1252 has not is written by its number');
    for (let i = 0; i + 1 < lines.length; i += 2) assert.match(lines[i], /^ *\d+$/);
});

test('parts of compound systems, and degrees among metres', () => {
    const utm = 'PROJCS["a",GEOGCS["b",DATUM["c (d]"]],UNIT["metre",1]]';
    assert.equal(horizontalText(`COMPD_CS["x",${utm},VERT_CS["y"]]`), utm);
    assert.equal(horizontalText('EPSG:25832'), 'EPSG:25832');
    const meta = { box: { min: [500000, 5400000, 0], max: [500100, 5400100, 1] }, isLonLat: false };
    assert.ok(looksLikeDegrees([[9, 48]], meta));
    assert.ok(!looksLikeDegrees([[500000, 5400000]], meta));
    assert.ok(!looksLikeDegrees([[9, 48]], { ...meta, box: { min: [0, 0, 0], max: [10, 10, 1] } }), 'a small site around zero');
});

test('what has no height keeps none: in files, in addresses, and beside what is there', () => {
    const g = (type, coordinates, properties = {}) => ({ type: 'Feature', geometry: { type, coordinates }, properties });
    const ring = [[0, 0], [0, 4, 7], [4, 4], [4, 0], [0, 0]];
    const hole = [[1, 1, 5], [2, 1], [2, 2, 5], [1, 1, 5]];
    const text = JSON.stringify({ type: 'FeatureCollection', features: [g('Polygon', [ring, hole], { kind: 'volume' }), g('LineString', [[0, 0], [1, 1]]), g('Point', [3, 3]), g('Point', [3, 3, 1])] });
    const read = (from, height) => toMarks(readGeoJson(from), { heightAt: () => height });
    const marks = read(text, 9);
    assert.deepEqual(marks.map(({ flat }) => flat), [[0, 2, 3, 5], [0, 1], [0], undefined]);
    assert.deepEqual(ringsOf(marks[0]), [[[0, 0, null], [0, 4, 7], [4, 4, null], [4, 0, null]], [[1, 1, 5], [2, 1, null], [2, 2, 5]]]);
    // As it was read it is written, in the order of its corners, on which the last digit of a volume depends.
    const written = toGeoJson(marks, { figures: () => ({}) });
    assert.deepEqual(written.features.map(({ geometry }) => geometry.coordinates), [[ring, hole], [[0, 0], [1, 1]], [3, 3], [3, 3, 1]]);
    assert.ok(!JSON.stringify(written).includes('flat'));
    const [{ geometry: { coordinates: [outer] } }] = toGeoJson(marks, { figures: () => ({}), toWgs84: ([x, y, z]) => [x / 1e5, y / 1e5, z] }).features;
    assert.deepEqual(outer, [[0, 0], [4e-5, 0], [4e-5, 4e-5], [0, 4e-5, 7], [0, 0]], 'RFC 7946 has outer rings counter-clockwise');
    // The height at which the cloud was drawn makes no other mark of it.
    const keys = (list) => list.map((mark) => markKey(mark, [0.001, 0.001, 0.001]));
    assert.deepEqual(keys(read(text, 123.4)), keys(marks));
    assert.notEqual(keys([marks[2]])[0], keys([{ ...marks[2], flat: undefined }])[0]);
    for (const mark of [marks[1], { kind: 'area', points: marks[0].points, text: '', flat: [1, 3] }, { kind: 'profile', points: marks[1].points, width: 2, text: 'f', flat: [0, 1] }]) {
        const { more: _, ...rest } = mark;
        assert.deepEqual(readMark(markText(rest, (p) => p.map(String))), rest);
    }
    assert.deepEqual([[9, -1, 1.5, 'x', 1, 1], 'all', [], [5]].map((flat) => cleaned({ kind: 'distance', points: [[0, 0, 0], [1, 1, 1]], flat })?.flat), [[1], undefined, undefined, undefined]);
});

test('a volume over its lowest point is one in an address and in a file', () => {
    const mark = { kind: 'volume', points: square(0, 0, 2, 2), text: 'a heap', base: 'lowest' };
    const text = markText(mark, (p) => p.map(String));
    assert.equal(text, 'volume;lowest;0,0,0;2,0,0;2,2,0;0,2,0;~a heap');
    assert.deepEqual(readMark(text), mark);
    assert.equal(readMark('volume;0,0,0;2,0,0;2,2,0').base, undefined);
    const [again] = toMarks(readGeoJson(JSON.stringify(toGeoJson([mark], { figures: () => ({}) }))));
    assert.equal(again.base, 'lowest');
    assert.notEqual(markKey(mark, [1, 1, 1]), markKey({ ...mark, base: undefined }, [1, 1, 1]));
});
