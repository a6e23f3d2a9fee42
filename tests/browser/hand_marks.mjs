// Marks as files, kept by the browser, and in links: nothing is lost, whoever made it. Other programs read what is saved.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from './checks.mjs';
import { grid, ONE_NODE, PHONE, POSITION, press } from './hand.mjs';
import { writeDataset } from '../viewer/make_dataset.mjs';

const [EAST, NORTH] = [500000, 5400000];
const slopeAt = (x) => 100 + x / 10;
// 20 x 20 m, rising to the east.
export const slope = (folder, options = {}) => writeDataset(folder, grid(101, (u, v) => [u * 20000, v * 20000, u * 2000]), {
    ...ONE_NODE, scale: [0.001, 0.001, 0.001], offset: [EAST, NORTH, 100], projection: 'EPSG:25832', attributes: [POSITION], ...options,
});

const marks = (page) => page.evaluate(() => window.mote.marks);
const said = (page, text) => page.locator('#said').getByText(text).waitFor();
const near = (a, b, tolerance = 1e-9) => assert.ok(Math.abs(a - b) <= tolerance, `${a} instead of ${b}`);
const hasGdal = () => {
    try {
        return /GDAL/.test(execFileSync('ogrinfo', ['--version']).toString());
    } catch {
        return false;
    }
};

async function saved(page, format) {
    await page.locator('#marks-format').selectOption(format);
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#marks-save').click()]);
    return { name: download.suggestedFilename(), path: await download.path() };
}

async function give(page, folder, files) {
    const paths = Object.entries(files).map(([name, content]) => {
        writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
        return join(folder, name);
    });
    await page.locator('#marks-file').setInputFiles(paths);
}

const feature = (type, coordinates, properties = {}) => ({ type: 'Feature', geometry: { type, coordinates }, properties });
const collection = (...features) => ({ type: 'FeatureCollection', features });
const at = (x, y) => [EAST + x, NORTH + y, slopeAt(x)];

async function giveMany(page, folder) {
    const many = Array.from({ length: 10000 }, (_, i) => {
        const [x, y] = [0.1 + (i % 100) * 0.19, 0.1 + Math.floor(i / 100) * 0.19];
        return i % 2 ? feature('LineString', [at(x, y), at(x + 0.1, y)], { kind: 'distance', text: `no ${i}` }) : feature('Point', at(x, y), { kind: 'note', text: `no ${i}` });
    });
    await give(page, folder, { 'many.geojson': collection(...many) });
    await said(page, '10 000 read from many.geojson');
    await idle(page);
}

export const MARKS_CHECKS = {
    'ten thousand marks are read and drawn, one is taken away and comes back': {
        maxMs: 300000,
        data: slope,
        async run({ page, folder, out }) {
            await giveMany(page, folder);
            assert.equal((await marks(page)).length, 10000);
            assert.equal(await page.locator('#marks li').count(), 100, 'the panel shows some');
            await page.getByText('Show 100 more of 9 900 earlier ones').click();
            assert.equal(await page.locator('#marks li').count(), 200);
            const start = Date.now();
            for (let i = 0; i < 10; i++) await press(page, 'ArrowLeft');
            console.log(`        ten steps with 10,000 marks: ${Date.now() - start} ms`);
            await page.screenshot({ path: join(out, 'by-hand-many-marks.png') });
            await page.locator('#marks .remove').first().click();
            assert.equal((await marks(page)).length, 9999);
            await press(page, 'Control+z');
            assert.equal((await marks(page)).length, 10000);
        },
    },
    'ten thousand marks are kept over a reload, and a link says how many it has no room for': {
        maxMs: 300000,
        data: slope,
        async run({ page, folder }) {
            await giveMany(page, folder);
            await page.locator('#marks-told').getByText(/no room for 9 9\d\d of 10 000 marks/).waitFor();
            const link = await page.evaluate(() => window.mote.link());
            assert.ok(link.length < 16000 && /unmarked=99\d\d/.test(link));
            await page.locator('#view-link').click();
            await said(page, /has no room for 9 9\d\d of 10 000 marks/);
            await page.waitForTimeout(500);
            await page.reload();
            await idle(page);
            assert.equal((await marks(page)).length, 10000);
            await page.goto(link);
            await idle(page);
            assert.equal((await marks(page)).length, 10000, 'the browser has what the link has no room for');
            // Another browser has nothing, and says so.
            await page.addInitScript(() => localStorage.clear());
            await page.goto(link);
            await page.locator('#messages').getByText(/no room for 9 9\d\d of its marks/).waitFor();
        },
    },
    'what was begun goes on after a reload, and waits behind a link': {
        data: slope,
        async run({ page, url }) {
            const place = (x, y) => page.evaluate((p) => window.mote.project(p), at(x, y));
            const click = async (x, y) => {
                const box = await page.locator('#canvas').boundingBox();
                const [u, v] = await place(x, y);
                await page.mouse.click(box.x + u, box.y + v);
            };
            const begun = () => page.locator('#draft span').innerText();
            await press(page, 'q');
            await click(4, 4);
            await press(page, 'Escape');
            await press(page, 'q');
            for (const [x, y] of [[5, 5], [15, 5], [15, 15]]) await click(x, y);
            assert.equal(await begun(), 'Points: 3');
            await press(page, 'g'); // an angle takes three points, so the area waits
            await click(10, 10);
            assert.equal(await begun(), 'Points: 1 of 3');
            await page.waitForTimeout(500);
            const link = await page.evaluate(() => window.mote.link());
            await page.reload();
            await idle(page);
            assert.equal(await begun(), 'Points: 1 of 3');
            await press(page, 'q');
            assert.equal(await begun(), 'Points: 3', 'the area is not lost to the angle');
            await page.waitForTimeout(500);
            await page.goto(link);
            await idle(page);
            assert.ok(!(await page.locator('#draft').isVisible()), 'a link shows what it holds');
            await press(page, 'q');
            await press(page, 'Enter');
            const [area] = await marks(page);
            await press(page, 'g');
            assert.equal(await begun(), 'Points: 1 of 3');
            await press(page, 'Escape');
            assert.deepEqual([area.kind, area.points.length], ['area', 3]);
            await page.goto(url);
            await idle(page);
            await page.waitForTimeout(500);
            await page.reload();
            await idle(page);
            assert.ok(!(await page.locator('#draft').isVisible()), 'a measurement that ended is begun no more');
            assert.equal((await marks(page)).length, 1);
        },
    },
    'a link that shows other marks takes none away; nor does a saved view': {
        data: slope,
        async run({ page, folder }) {
            await give(page, folder, { 'a.geojson': collection(feature('Point', at(3, 3), { kind: 'note', text: 'mine' })) });
            await said(page, '1 read');
            await page.locator('#view-save').click();
            const link = (await page.evaluate(() => window.mote.link())).replace('mine', 'theirs');
            await page.waitForTimeout(500);
            await page.goto(link);
            await idle(page);
            assert.deepEqual((await marks(page)).map(({ text }) => text), ['theirs'], 'the link shows what it holds');
            await page.locator('#marks-aside').getByText('keeps 1 more mark of').waitFor();
            await page.waitForTimeout(500);
            await page.goto(link);
            await idle(page);
            await page.locator('#marks-aside-show').click();
            assert.deepEqual((await marks(page)).map(({ text }) => text), ['theirs', 'mine']);
            assert.ok(!(await page.locator('#marks-aside').isVisible()));
            await press(page, '1');
            assert.equal((await marks(page)).length, 2, 'a view shows, and takes nothing away');
        },
    },
    'files of several people become one list, without doubles; what cannot be a mark is told': {
        data: slope,
        async run({ page, folder, out }) {
            const both = feature('LineString', [at(1, 1), at(2, 2)], { kind: 'distance', text: 'both' });
            await give(page, folder, {
                'ann.geojson': { ...collection(both, feature('Point', at(5, 5), { kind: 'note', text: 'ann' })), mote: { views: [{ name: 'Corner', view: 'cam=500010,5400010,101,0,0.5,20&color=height' }] } },
                'bob.geojson': collection(both, feature('Polygon', [[at(5, 5), at(9, 5), at(9, 9), at(5, 5)]], { kind: 'area', text: 'bob' }), { type: 'Feature', geometry: null, properties: {} },
                    feature('Curve', [at(1, 1)]), feature('LineString', [at(1, 1)]), feature('Point', ['x', 1, 2])),
            });
            await page.locator('#messages').getByText('bob.geojson: Left out are 1 without a geometry, 1 of a type that is not read (Curve), 1 with coordinates that are no numbers, 1 with too few corners for its kind (distance).').waitFor();
            assert.deepEqual((await marks(page)).map(({ text }) => text), ['both', 'ann', 'bob']);
            assert.equal(await page.locator('#views input').inputValue(), 'Corner');
            const { path } = await saved(page, 'geojson');
            const file = JSON.parse(readFileSync(path, 'utf8'));
            assert.deepEqual([file.features.length, file.mote.views[0].name, file.crs.properties.name], [3, 'Corner', 'urn:ogc:def:crs:EPSG::25832']);
            await page.screenshot({ path: join(out, 'by-hand-merged.png') });
            await page.locator('#marks-file').setInputFiles(path);
            await said(page, '0 read from');
            await page.setViewportSize(PHONE);
            if (!(await page.locator('#panel').isVisible())) await page.locator('#panel-toggle').click();
            await page.locator('#marks-save').scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(out, 'by-hand-merged-phone.png') });
        },
    },
    'all geometries are read, with heights of the cloud where they have none; degrees become coordinates of the data set': {
        data: slope,
        async run({ page, folder }) {
            const flat = (x, y) => [EAST + x, NORTH + y];
            await give(page, folder, { 'flat.geojson': collection(
                feature('MultiPoint', [flat(2, 2), flat(4, 4)], { name: 'two' }), feature('MultiLineString', [[flat(1, 1), flat(3, 1)], [flat(5, 1), flat(8, 1)]]),
                feature('MultiPolygon', [[[flat(10, 10), flat(16, 10), flat(16, 16), flat(10, 16), flat(10, 10)], [flat(12, 12), flat(14, 12), flat(14, 14), flat(12, 12)]]], { owner: 'city' }),
                { type: 'Feature', geometry: { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: flat(7, 7) }] }, properties: {} },
            ) });
            await said(page, /6 read from flat\.geojson; 14 heights are those of the cloud/);
            const list = await marks(page);
            assert.deepEqual(list.map(({ kind }) => kind), ['note', 'note', 'distance', 'distance', 'area', 'note']);
            for (const [x, , z] of list.flatMap(({ points }) => points)) near(z, slopeAt(x - EAST), 0.0201); // a point of the cloud is at most 14 cm away
            assert.equal(list[4].holes.length, 1);
            const { path } = await saved(page, 'geojson');
            const [area] = JSON.parse(readFileSync(path, 'utf8')).features.filter(({ geometry }) => geometry.type === 'Polygon');
            near(area.properties['seen from above'], 36 - 2, 1e-3);
            assert.equal(area.properties.owner, 'city', 'what another program said is kept');
            assert.equal(area.geometry.coordinates.length, 2);
            await page.locator('#marks-none').click();
            // As QGIS writes it: names of its own, boxes, a resolution, ids, everything Multi and with heights.
            const qgis = { ...collection({ ...feature('MultiPolygon', [[[at(1, 1), at(4, 1), at(4, 4), at(1, 1)]]], { fid: 1, name: null, area: 4.5 }), bbox: [EAST, NORTH, EAST + 4, NORTH + 4] }, feature('MultiLineStringZ', [[at(1, 1), at(2, 2)]]), { ...feature('MultiLineString', [[at(6, 6), at(7, 6), at(7, 7)]], { fid: 3 }), id: 3 }, feature('Point', null), { type: 'Feature', properties: { fid: 4 }, geometry: null }),
                name: 'lots', xy_coordinate_resolution: 0.001, crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::25832' } } };
            await give(page, folder, { 'qgis.geojson': qgis });
            await said(page, /2 read from qgis\.geojson/);
            assert.deepEqual((await marks(page)).map(({ kind, points }) => `${kind} ${points.length}`), ['area 3', 'distance 3']);
            await page.locator('#messages').getByText(/left out/i).first().waitFor();
            await page.locator('#messages button').first().click();
            await page.locator('#marks-none').click();
            // Where the cloud is not there are no heights.
            await give(page, folder, { 'far.geojson': collection(feature('Point', flat(500, 500))) });
            await said(page, /1 read from far\.geojson/);
            await page.locator('#messages').getByText(/^far\.geojson: 1 /).waitFor();
            await page.locator('#messages button').first().click();
            await page.locator('#marks-none').click();
            // 500000, 5400000 of zone 32 is 9 degrees east.
            await give(page, folder, { 'degrees.geojson': collection(feature('Point', [9.00005, 48.75305], { name: 'a' })) });
            await said(page, /1 read from degrees\.geojson.*longitude and latitude became/);
            const [{ points: [[x, y]] }] = await marks(page);
            near(x, EAST + 3.676, 0.01);
            near(y, NORTH + 4.113, 0.01);
        },
    },
    'measurements of Potree are read': {
        data: slope,
        async run({ page, folder }) {
            const point = (x, y) => `[${at(x, y).join(', ')}]`;
            await give(page, folder, { 'potree.json5': `{\n\ttype: "Potree",\n\tversion: 1.7,\n\tmeasurements: [\n\t\t{ uuid: "a", name: "Distance: 1", points: [${point(1, 1)}, ${point(4, 1)},], showDistances: true, closed: false, },\n`
                + `\t\t{ name: "Area", points: [${point(1, 1)}, ${point(4, 1)}, ${point(4, 4)}], closed: true, showArea: true }],\n\tprofiles: [{ name: "P", points: [${point(1, 1)}, ${point(9, 1)}], width: 2 }],\n\tannotations: [{ title: "Here", position: ${point(5, 5)} }],\n}`,
                'potree.geojson': collection(feature('LineString', [at(1, 2), at(2, 2)], { name: 'Height' }), feature('Point', at(1.5, 2), { distance: '1.00' })) });
            await said(page, '2 read from potree.geojson');
            assert.deepEqual((await marks(page)).map(({ kind, text }) => `${kind} ${text}`), ['distance Distance: 1', 'area Area', 'profile P', 'note Here', 'distance Height', 'note 1.00']);
        },
    },
    'what is saved is read by GDAL: GeoJSON in its system and as RFC 7946, and DXF of marks and of a profile': {
        data: slope,
        async run({ page, folder }) {
            if (!hasGdal()) return console.log('        skipped: ogrinfo is not there (Debian: gdal-bin)');
            const ogr = (...args) => execFileSync('ogrinfo', ['-ro', '-al', ...args]).toString();
            await give(page, folder, { 'a.geojson': collection(
                feature('Point', at(2, 2), { kind: 'note', text: 'Grüße' }), feature('LineString', [at(1, 1), at(5, 1)], { kind: 'distance', text: 'line' }),
                feature('Polygon', [[at(10, 10), at(16, 10), at(16, 16), at(10, 16), at(10, 10)]], { kind: 'area', text: 'roof' }), feature('LineString', [at(1, 5), at(15, 5)], { kind: 'profile', width: 0.5 })) });
            await said(page, '4 read');
            await press(page, 'z'); // a clip box
            const own = ogr((await saved(page, 'geojson')).path);
            assert.match(own, /ETRS89 \/ UTM zone 32N/);
            assert.match(own, /LINESTRING Z \(500001 5400001 100.1,500005 5400001 100.5\)/);
            assert.match(own, /Feature Count: 5/);
            const world = ogr((await saved(page, 'rfc7946')).path);
            assert.match(world, /WGS 84/);
            assert.match(world, /POINT Z \(9\.00002\d+ 48\.75303\d+ 100\.2\)/);
            const transformed = join(folder, 'world.geojson');
            execFileSync('ogr2ogr', ['-f', 'GeoJSON', '-t_srs', 'EPSG:4326', transformed, (await saved(page, 'geojson')).path]);
            const places = JSON.parse(readFileSync(transformed, 'utf8')).features[0].geometry.coordinates;
            await give(page, folder, { 'back.geojson': readFileSync(transformed, 'utf8') });
            await said(page, /read from back\.geojson.*longitude and latitude became/);
            const [, lon, lat] = /POINT Z \((\S+) (\S+)/.exec(world);
            near(Number(lon), places[0], 1e-7);
            near(Number(lat), places[1], 1e-7);
            const drawing = ogr((await saved(page, 'dxf')).path);
            assert.match(drawing, /POINT Z \(500002 5400002 100.2\)/);
            assert.match(drawing, /Text \(String\) = Grüße/);
            assert.match(drawing, /LINESTRING Z \(500001 5400001 100.1,500005 5400001 100.5\)/);
            assert.match(drawing, /Layer \(String\) = AREA/);
            assert.match(drawing, /Layer \(String\) = CLIP/);
            await page.getByText('Show profile').click();
            await page.waitForFunction(() => !document.querySelector('#profile-dxf').disabled); // all points are read
            const shown = Number(/^([\d\s]+) points/.exec(await page.locator('#profile-count').innerText())[1].replace(/\s/g, ''));
            assert.ok(shown > 100);
            const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#profile-dxf').click()]);
            const profile = ogr(await download.path());
            assert.equal(profile.match(/POINT Z? ?\(/g).length, shown);
            assert.match(profile, /Layer \(String\) = BASE/);
        },
    },
};
