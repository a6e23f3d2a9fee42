// What the page says: reference systems, times, angles, resolutions, counts, coordinates.
import test from 'node:test';
import assert from 'node:assert/strict';
import { crsName, parseCrs, parseWkt, withUnits } from '../../viewer/src/data/crs.js';
import { isGeographic, metresPerDegree, metresPerUnit, stretchOf } from '../../viewer/src/data/geographic.js';
import { adjustedTime, weekTime } from '../../viewer/src/data/gps_time.js';
import { timeKind } from '../../viewer/src/data/time_kind.js';
import { parseAttributes, scalarChannels, valueOfStored } from '../../viewer/src/data/attributes.js';
import { parseJson } from '../../viewer/src/data/fetcher.js';
import { parseMetadata } from '../../viewer/src/data/metadata.js';
import { channelText, coordinates, count, length, plain, resolution } from '../../viewer/src/ui/format.js';
import { unitName } from '../../viewer/src/measure/units.js';
import { loadUnits, withDecidedUnits } from '../../viewer/src/data/units_module.js';
import { existsSync, readFileSync } from 'node:fs';

const UNITS = new URL('../../viewer/dist/units.wasm', import.meta.url);
const skip = existsSync(UNITS) ? false : 'viewer/dist has no units.wasm: npm run build makes it, with clang and lld';
if (!skip) await loadUnits(new WebAssembly.Module(readFileSync(UNITS)));
// What parseMetadata() knows of a system.
const systemOf = async (projection, geo) => withUnits(parseCrs(projection), (await withDecidedUnits({ projection }, geo)).mote.units);
import { rows } from '../../viewer/src/ui/facts.js';
import { DEFAULTS } from '../../viewer/src/view/settings.js';

const UTM_WKT = 'PROJCS["WGS 84 / UTM zone 32N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.25]],'
    + 'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]],PROJECTION["Transverse_Mercator"],'
    + 'UNIT["metre",1,AUTHORITY["EPSG","9001"]],AUTHORITY["EPSG","32632"]]';
const GEO_WKT = 'GEOGCS["NAD83",DATUM["D",SPHEROID["GRS 1980",6378137,298.25]],PRIMEM["Greenwich",0],UNIT["degree",0.01745]]';
const FEET_WKT = `COMPD_CS["NAD83 + NAVD88 height (ftUS)",${GEO_WKT},VERT_CS["NAVD88",VERT_DATUM["x",2005],UNIT["US survey foot",0.3048006096]]]`;
const WKT2 = 'PROJCRS["ETRS89 / UTM zone 33N",BASEGEOGCRS["ETRS89",DATUM["d",ELLIPSOID["GRS 1980",6378137,298.2]]],'
    + 'CONVERSION["UTM zone 33N",METHOD["Transverse Mercator"]],CS[Cartesian,2],AXIS["easting (E)",east,ORDER[1],LENGTHUNIT["metre",1]],'
    + 'AXIS["northing (N)",north,ORDER[2],LENGTHUNIT["metre",1]],ID["EPSG",25833]]';

test('reference systems by their name', () => {
    const names = {
        '': '',
        [UTM_WKT]: 'WGS 84 / UTM zone 32N (EPSG:32632)',
        [FEET_WKT]: 'NAD83 + NAVD88 height (ftUS)',
        [WKT2]: 'ETRS89 / UTM zone 33N (EPSG:25833)',
        'GEODCRS["WGS 84",CS[ellipsoidal,2],ID["EPSG",4326]]': 'WGS 84 (EPSG:4326)',
        'GEOGCS("old brackets",UNIT("degree",0.017))': 'old brackets',
        'LOCAL_CS["the ""yard"", site 2"]': 'the "yard", site 2',
        'BOUNDCRS[SOURCECRS[GEOGCRS["DHDN",ID["EPSG",4314]]],TARGETCRS[GEOGCRS["WGS 84"]]]': 'DHDN (EPSG:4314)',
        'EPSG:25832': 'ETRS89 / UTM zone 32N (EPSG:25832)',
        'EPSG:4326': 'WGS 84 (EPSG:4326)',
        'EPSG:12345': 'EPSG:12345',
        'urn:ogc:def:crs:EPSG::2154': 'RGF93 v1 / Lambert-93 (EPSG:2154)',
        '+proj=utm +zone=32 +datum=WGS84 +units=m +no_defs': 'UTM zone 32N (WGS84)',
        '+proj=utm +zone=56 +south +ellps=GRS80': 'UTM zone 56S (GRS80)',
        '+proj=longlat +datum=NAD83 +no_defs': 'longitude, latitude (NAD83)',
        '+init=epsg:28992': 'Amersfoort / RD New (EPSG:28992)',
        '{"type":"GeographicCRS","name":"ETRS89","id":{"authority":"EPSG","code":4258}}': 'ETRS89 (EPSG:4258)',
        'PROJCS["cut short': 'PROJCS["cut short',
        'our own grid': 'our own grid',
    };
    for (const [text, name] of Object.entries(names)) assert.equal(crsName(text), name);
    assert.equal(parseWkt('A['.repeat(1000)), null);
    assert.equal(parseWkt('no brackets'), null);
});

const GRAD = Math.PI / 200;
const DEGREE = Math.PI / 180;
const near = (a, b) => a === b || Math.abs(a - b) < 1e-15;
const same = (found, wanted, text) => assert.ok(found.every((value, i) => near(value, wanted[i])), `${text}: ${found}, not ${wanted}`);

test('what a reference system measures in, as the command says', { skip }, async () => {
    const US = 1200 / 3937;
    const usFeet = 'PROJCS["p",GEOGCS["g",UNIT["degree",0.0174532925199433]],UNIT["US survey foot",0.3048006]]';
    const wanted = [
        [UTM_WKT, 'projected', 1, null, null], [WKT2, 'projected', 1, null, null], [FEET_WKT, 'geographic', null, DEGREE, US],
        ['GEODCRS["WGS 84 (geocentric)",CS[Cartesian,3]]', null, null, null, null], ['+proj=utm +zone=10 +units=us-ft', 'projected', US, null, null],
        ['+proj=utm +zone=10 +units=yd +vunits=us-ft', 'projected', 0.9144, null, US], ['EPSG:4269', 'geographic', null, DEGREE, null],
        ['EPSG:2263', null, US, null, null], ['EPSG:2263+5703', null, US, null, 1], ['EPSG:8767', null, US, null, US], ['EPSG:3167', null, 20.116756, null, null],
        ['EPSG:4807', 'geographic', null, GRAD, null], ['EPSG:32763', null, null, null, null], ['EPSG:900913', null, 1, null, null],
        ['EPSG:4647', null, 1, null, null], // UTM, with the number of its zone before x
        ['EPSG:2994', null, 0.3048, null, null], ['EPSG:26910+6360', 'projected', 1, null, US], ['EPSG:2903+5703', null, US, null, 1], ['EPSG:25832+8228', 'projected', 1, null, 0.3048],
        [usFeet, 'projected', US, null, null], [`${usFeet},VERTCS["v",UNIT["Meter",1]]`, 'projected', US, null, 1],
        ['PROJCS["p",UNIT["Foot_US"]]', 'projected', US, null, null], ['GEOGCS["NTF",UNIT["grad",0.015707963267948967]]', 'geographic', null, GRAD, null],
        ['PROJCS["p",UNIT["rod",5.0292100584201168]]', 'projected', 5.029210058420117, null, null], ['our own grid', null, null, null, null],
    ];
    for (const [text, kind, ...units] of wanted) {
        const crs = await systemOf(text);
        assert.equal(crs.kind, kind, text);
        same([crs.metres, crs.radians, crs.verticalMetres], units, text);
    }
    // GeoTIFF keys say more than the code: EPSG 26995 is of metres, and the file has US feet, with heights in metres.
    const entries = [[1, 1, 0, 3], [1024, 0, 1, 1], [3072, 0, 1, 26995], [3076, 0, 1, 9003], [4099, 0, 1, 9001]];
    const keys = new Uint8Array(Uint16Array.from(entries.flat()).buffer);
    const crs = await systemOf('EPSG:26995', { keys });
    same([crs.metres, crs.radians, crs.verticalMetres], [US, null, 1], 'keys');
    const own = new Uint8Array(Uint16Array.from([[1, 1, 0, 3], [1024, 0, 1, 1], [3076, 0, 1, 32767], [3077, 34736, 1, 0]].flat()).buffer);
    assert.equal((await systemOf('', { keys: own, numbers: new Uint8Array(new Float64Array([5.03]).buffer) })).metres, 5.03);
    const said = { projection: 'EPSG:32632', mote: { units: { horizontal: null, vertical: null } } };
    assert.equal(await withDecidedUnits(said), said, 'what mote wrote counts');
});

test('a second data set counts in the units of the first, as far as both are known', () => {
    const attributes = [{ name: 'position', size: 12, numElements: 3, elementSize: 4, type: 'int32', min: [1000, 2000, 10], max: [1100, 2100, 20] }];
    const json = (units) => ({ version: '2.0', points: 1, scale: [0.01, 0.01, 0.01], offset: [1000, 2000, 0], spacing: 1, boundingBox: { min: [1000, 2000, 0], max: [1100, 2100, 100] },
        hierarchy: { firstChunkSize: 22, stepSize: 4, depth: 1 }, attributes, projection: 'our own grid', mote: { units } });
    const read = (units, frame = null) => parseMetadata(json(units), null, null, frame);
    const metres = { horizontal: { metres: 1 }, vertical: { metres: 1 } };
    const first = read(metres);
    const feet = read({ horizontal: { metres: 0.3048 }, vertical: { metres: 1200 / 3937 } }, first);
    const close = (a, b) => a.forEach((v, i) => assert.ok(Math.abs(v - b[i]) < 1e-9, `${a}, not ${b}`));
    close(feet.box.min, [304.8, 609.6, 12000 / 3937]);
    close(feet.side, [30.48, 30.48, 120000 / 3937]);
    close(feet.corner, [304.8 - 1000, 609.6 - 2000, 0]);
    close(feet.offset, [304.8, 609.6, 0]);
    assert.deepEqual([feet.stored.scale, feet.stored.offset, feet.isConverted], [[0.01, 0.01, 0.01], [1000, 2000, 0], true]);
    assert.deepEqual([feet.crs.metres, feet.crs.verticalMetres], [1, 1]);
    // Heights alone; heights that nothing is said of, which count as x and y do; nothing known.
    close(read({ horizontal: { metres: 1 }, vertical: { metres: 0.3048 } }, first).box.max, [1100, 2100, 6.096]);
    close(read({ horizontal: { metres: 0.3048 }, vertical: null }, first).box.max, [335.28, 640.08, 6.096]);
    for (const units of [metres, { horizontal: null, vertical: null }]) assert.deepEqual([read(units, first).box, read(units, first).isConverted], [first.box, false]);
    assert.deepEqual(read({ horizontal: { metres: 0.3048 }, vertical: null }, read({ horizontal: null, vertical: null })).box, first.box);
});

test('longitude and latitude: told by the system, contradicted or found by the numbers', () => {
    const autzen = { min: [-123.075, 44.05, 124], max: [-123.062, 44.062, 179] };
    const utm = { min: [515368, 4918340, 2322], max: [515401, 4918381, 2338] };
    const room = { min: [-5, -4, 0], max: [6, 3, 3] };
    assert.ok(isGeographic(parseCrs('EPSG:4326'), autzen, [1e-7, 1e-7, 0.01]));
    assert.ok(isGeographic(parseCrs(GEO_WKT), autzen, [1e-7, 1e-7, 1e-7]));
    assert.ok(!isGeographic(parseCrs('EPSG:4326'), utm, [0.001, 0.001, 0.001]), 'a system that the numbers contradict');
    assert.ok(!isGeographic(parseCrs(UTM_WKT), autzen, [1e-7, 1e-7, 0.01]));
    assert.ok(isGeographic(null, autzen, [1e-7, 1e-7, 0.01]), 'steps of a ten-millionth beside steps of a centimetre');
    assert.ok(!isGeographic(null, room, [0.001, 0.001, 0.001]));
    assert.ok(!isGeographic(null, room, [1e-7, 1e-7, 1e-7]), 'a room in fine steps');
    assert.ok(isGeographic(null, autzen, [1e-7, 1e-7, 1e-7]), 'a table of decimals: a thread of 0.01 by 55');
    assert.ok(!isGeographic(null, autzen, [2 ** -24, 2 ** -24, 2 ** -24]), 'a thin mast in floats');
    assert.ok(!isGeographic(null, { min: [0, 0, 0], max: [0, 0, 30] }, [1e-7, 1e-7, 1e-7]), 'a plumb line');
    assert.ok(!isGeographic(null, { min: [1, 1, 0], max: [1.1, 1.1, 1e6] }, [1e-7, 1e-7, 1e-7]));
    // Metres east and north, feet up.
    const utmFeet = withUnits(parseCrs(`COMPD_CS["a",${UTM_WKT},VERT_CS["NAVD88 (ftUS)",VERT_DATUM["x",2005],UNIT["US survey foot",0.3048006096]]]`), { horizontal: { metres: 1 }, vertical: { metres: 0.3048006096 } });
    assert.deepEqual(stretchOf(utmFeet, utm, false), [1, 1, 0.3048006096]);
    assert.deepEqual(stretchOf(parseCrs(UTM_WKT), utm, false), [1, 1, 1]);
    assert.deepEqual(stretchOf({ metres: 0.3048, verticalMetres: 0.3048006 }, utm, false), [1, 1, 0.3048006 / 0.3048], 'two kinds of feet');
    assert.deepEqual(stretchOf(null, utm, false), [1, 1, 1]);
    const near = (a, b, within) => assert.ok(Math.abs(a - b) < within, `${a}, not ${b}`);
    near(metresPerDegree(0).east, 111319.5, 1);
    near(metresPerDegree(0).north, 110574.3, 1);
    near(metresPerDegree(45).east, 78846.8, 1);
    near(metresPerDegree(60).north, 111412.3, 1);
    assert.equal(metresPerUnit({ verticalMetres: 0.3048006096 }, autzen)[2], 0.3048006096);
    assert.ok(Math.abs(metresPerUnit({ radians: GRAD }, { min: [10, 49.5, 0], max: [11, 50.5, 1] })[0] - 78846.8 * 0.9) < 1, 'grads');
    assert.ok(isGeographic({ kind: 'geographic', radians: GRAD }, { min: [390, 99, 0], max: [391, 100, 1] }, [1e-7, 1e-7, 0.01]));
    assert.ok(!isGeographic({ kind: 'geographic', radians: GRAD }, { min: [390, 99, 0], max: [391, 101, 1] }, [1e-7, 1e-7, 0.01]));
    assert.ok(metresPerUnit(null, { min: [0, 90, 0], max: [1, 90, 1] })[0] > 0);
});

test('GPS times as date and clock', () => {
    assert.equal(adjustedTime(0), '2011-09-14 01:46:25 UTC');
    assert.equal(adjustedTime(206860645.046875), '2018-04-04 07:03:47 UTC');
    assert.equal(adjustedTime(-1e9), '1980-01-06 00:00:00 UTC');
    // Around the leap second at the end of 2016: 17 seconds before, 18 after.
    assert.equal(adjustedTime(1167264016 - 1e9), '2016-12-31 23:59:59 UTC');
    assert.equal(adjustedTime(1167264018 - 1e9), '2017-01-01 00:00:00 UTC');
    assert.equal(adjustedTime(206860645.25, 5), '2018-04-04 07:03:47.25 UTC');
    assert.equal(weekTime(0), 'Sunday 00:00:00');
    assert.equal(weekTime(245370.417), 'Tuesday 20:09:30');
    assert.equal(weekTime(86399.9999999, 0.01), 'Sunday 23:59:59.9999');
    assert.equal(timeKind([245370, 249783], 0), 'week');
    assert.equal(timeKind([245370, 249783], 1), 'adjusted');
    assert.equal(timeKind([206860645, 206946275], 0), 'adjusted', 'the bit was forgotten');
    assert.equal(timeKind([206860645, 206946275], undefined), 'adjusted');
    assert.equal(timeKind([0, 1], 0), null, 'what is written where there are no times');
    assert.equal(timeKind([1.7e9, 1.7e9], 0), null);
    assert.equal(timeKind([-1e300, 1e300], 1), null);
});

const channelsOf = (attributes, globalEncoding) => scalarChannels(
    parseAttributes([{ name: 'position', type: 'int32', numElements: 3 }, ...attributes.map((a) => ({ numElements: 1, ...a }))]), globalEncoding);

test('values as people mean them: scan angles, scaled attributes, times', () => {
    const [angle, rank, scaled, time, week] = channelsOf([
        { name: 'scan angle', type: 'int16', min: [-5000], max: [3333] },
        { name: 'scan angle rank', type: 'int8', min: [-19], max: [18] },
        { name: 'moisture', type: 'int32', min: [100], max: [200], scale: [-0.1], offset: [5] },
        { name: 'gps-time', type: 'double', min: [206860645], max: [206946275] },
        { name: 'gps-time', type: 'double', min: [245370], max: [249783] },
    ], 0);
    assert.deepEqual(angle.range.map((v) => channelText(angle, v, 50)), ['-30°', '20°']);
    assert.equal(valueOfStored(angle, 1000), 6);
    assert.deepEqual(rank.range.map((v) => channelText(rank, v, 37)), ['-19°', '18°']);
    assert.deepEqual(scaled.range, [-15, -5], 'a negative scale turns the ends');
    assert.equal(valueOfStored(scaled, 0), -5, 'the stored number is relative to its base');
    assert.equal(channelText(time, time.range[0], 85630), '2018-04-04 07:03:47 UTC');
    assert.equal(channelText(week, week.range[0], 4413), 'Tuesday 20:09:30');
    assert.equal(channelText(week, NaN, 1), '–');
    // The writer has said it already: not scaled twice.
    const [own] = channelsOf([{ name: 'scan angle', type: 'int16', min: [-5000], max: [3333], scale: [0.006], offset: [0] }]);
    assert.equal(own.range[0], -30);
    const [none] = channelsOf([{ name: 'x', type: 'float', min: [null], max: [null] }]);
    assert.equal(none.range, null);
});

test('counts, resolutions and coordinates', () => {
    assert.deepEqual([0, 1, 2, 12345].map((n) => count(n, 'node')), ['0 nodes', '1 node', '2 nodes', '12 345 nodes']);
    assert.deepEqual([count(1, 'class'), count(3, 'class')], ['1 class', '3 classes']);
    assert.deepEqual([0.01, 0.00025, 9.5367431640625e-7, 1.1650000000000001e-6, 1177.4599999999627, 0].map(plain),
        ['0.01', '0.00025', '0.00000095', '0.0000012', '1177', '0']);
    assert.deepEqual([1, 0.01, 0.00025, 0.1, 1e-6, 2.5].map(length), ['1 m', '1 cm', '0.25 mm', '10 cm', '1 µm', '2.5 m']);
    const metres = { metres: 1, verticalMetres: null };
    assert.equal(resolution({ scale: [0.01, 0.01, 0.01], crs: { ...metres, verticalMetres: 1 } }), '1 cm');
    assert.equal(resolution({ scale: [0.01, 0.01, 0.01], crs: metres }), '1 cm, 1 cm, 0.01', 'heights whose unit is not known');
    assert.equal(resolution({ scale: [0.01, 0.01, 0.001], crs: null }), '0.01, 0.01, 0.001');
    assert.equal(resolution({ scale: [1e-7, 1e-7, 0.01], crs: null, isLonLat: true }), '0.0000001°; height 0.01');
    assert.deepEqual(coordinates([635619.8500000001, 848899.7, 406.59000000000003], [0.01, 0.01, 0.01]), ['635619.85', '848899.70', '406.59']);
    assert.deepEqual(coordinates([-123.0749695, 515368.60225, 225.906005859375], [1e-7, 0.00025, 2 ** -20]), ['-123.0749695', '515368.60225', '225.9060059']);
});

const METADATA = {
    points: 1, offset: [0, 0, 0], scale: [0.01, 0.01, 0.01], spacing: 1, boundingBox: { min: [0, 0, 0], max: [1, 1, 1] },
    encoding: 'DEFAULT', hierarchy: { firstChunkSize: 22, depth: 4 }, attributes: [{ name: 'position', type: 'int32', numElements: 3, min: [0, 0, 0], max: [1, 1, 1] }],
};
const fact = (json, name) => rows(parseMetadata(json), DEFAULTS).find(([key]) => key === name)?.[1];

test('facts of a data set: levels are counted with the root, units where they are known', () => {
    assert.equal(fact(METADATA, 'Levels'), '5');
    assert.equal(fact({ ...METADATA, hierarchy: { firstChunkSize: 22, depth: 0 } }, 'Levels'), '1');
    assert.equal(fact({ ...METADATA, hierarchy: { firstChunkSize: 22 } }, 'Levels'), 'not given');
    assert.equal(fact({ ...METADATA, projection: UTM_WKT, mote: { units: { horizontal: { metres: 1 } } } }, 'Size'), '1\u00a0m × 1\u00a0m × 1');
    assert.equal(fact(METADATA, 'Size'), '1 × 1 × 1');
    assert.equal(fact({ ...METADATA, scale: [0.01, 0.01, 0.0010000000000000000208] }, 'Resolution'), '0.01, 0.01, 0.001');
    assert.equal(fact(METADATA, 'Drawn'), undefined);
    const degrees = { ...METADATA, projection: 'EPSG:4326' };
    assert.match(fact(degrees, 'Drawn'), /1° east = 111 \d\d\d m.*lonlat=0/);
    const grads = { ...degrees, mote: { units: { horizontal: { radians: GRAD } } } };
    assert.match(fact(grads, 'Drawn'), /1\u00a0gon east = 100 \d\d\d m, 1\u00a0gon north = 99 \d\d\d m/);
    const far = { ...degrees, boundingBox: { min: [5e5, 5e6, 0], max: [5e5, 5e6, 0] }, attributes: METADATA.attributes.map((a) => ({ ...a, min: [], max: [] })) };
    assert.equal(fact(far, 'Reference system'), 'WGS 84 (EPSG:4326); the coordinates are not degrees');
});

test('JSON with words for NaN', () => {
    assert.deepEqual(parseJson('{"min": [NaN, -Infinity, 1], "max": nan , "name": "a, nan "}'), { min: [null, null, 1], max: null, name: 'a, nan ' });
    assert.throws(() => parseJson('{"a": nonsense}'));
});

test('units of a reference system: of its own, not of its base', { skip }, async () => {
    const facts = async (text) => {
        const { metres, verticalMetres } = await systemOf(text);
        return [metres, verticalMetres];
    };
    const base = 'BASEGEOGCRS["b",DATUM["d",ELLIPSOID["e",6378137,298.2,LENGTHUNIT["metre",1]]],UNIT["degree",0.0174532925199433]]';
    const axes = (unit) => `CS[Cartesian,3],AXIS["e",east,${unit}],AXIS["n",north,${unit}],AXIS["h",up,LENGTHUNIT["metre",1]]`;
    assert.deepEqual(await facts(`PROJCRS["p",${base},${axes('LENGTHUNIT["foot",0.3048]')}]`), [0.3048, 1]);
    assert.deepEqual(await facts(`PROJCRS["p",${base},CS[Cartesian,2],AXIS["e",east],AXIS["n",north]]`), [null, null]);
    assert.deepEqual(await facts(`DERIVEDPROJCRS["p",BASEPROJCRS["q",${base}],${axes('UNIT["foot",0.3048]')}]`), [0.3048, 1]);
    assert.deepEqual(await facts('LOCAL_CS["site",UNIT["metre",1]]'), [1, null]);
    const crs = withUnits(parseCrs('EPSG:26995'), { horizontal: { name: 'US survey foot', metres: 1200 / 3937 }, vertical: null });
    assert.deepEqual([crs.code, crs.metres, crs.verticalMetres], [26995, 1200 / 3937, null]);
    assert.equal(withUnits(null, { horizontal: { name: 'degree', radians: 0.017 }, vertical: null }).kind, 'geographic');
    assert.deepEqual(['metres', 'verticalMetres'].map((key) => withUnits(parseCrs('EPSG:32632'), { horizontal: { metres: '1' }, vertical: 7 })[key]), [null, null]);
    for (const wrong of [null, undefined, 3, 'metre', []]) assert.equal(withUnits(parseCrs('EPSG:32632'), wrong).metres, null);
    assert.equal(unitName(0.3048006096012192), 'US ft');
    assert.equal(unitName(0.3048), 'ft');
    assert.equal(resolution({ scale: [0.01, 0.01, 0.01], crs: { metres: 1, verticalMetres: 1 } }), '1 cm');
    assert.equal(resolution({ scale: [0.01, 0.01, 0.01], crs: { metres: 1, verticalMetres: 0.3048 } }), '1 cm, 1 cm, 0.01 ft');
    assert.equal(resolution({ scale: [1e-7, 1e-7, 0.01], crs: { radians: DEGREE, verticalMetres: 1 }, isLonLat: true }), '0.0000001°; height 1 cm');
    assert.equal(resolution({ scale: [1e-7, 1e-7, 0.01], crs: { radians: GRAD }, isLonLat: true }), '0.0000001 gon; height 0.01');
    const feet = { ...METADATA, projection: 'EPSG:2994', mote: { units: { horizontal: { metres: 0.3048 }, vertical: { metres: 1200 / 3937 } } } };
    assert.equal(fact(feet, 'Lowest corner'), '0\u00a0ft, 0\u00a0ft, 0\u00a0US ft');
    assert.equal(fact(feet, 'Resolution'), '0.01\u00a0ft, 0.01\u00a0ft, 0.01\u00a0US ft');
    assert.match(fact(feet, 'Drawn'), /1\.000002/);
});
