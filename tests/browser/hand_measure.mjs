// Measuring, profiles, notes and clip boxes, against what the points are.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle, stats } from './checks.mjs';
import { grid, makeCity, ONE_NODE, PLAIN, POSITION, press, withQuery } from './hand.mjs';
import { readPng } from './png.mjs';
import { DEFAULT_ATTRIBUTES, writeDataset } from '../viewer/make_dataset.mjs';

const N = 101; // points along a side, 10 cm apart
const [EAST, NORTH] = [500000, 5400000];
// A pyramid on a square of 10 m: 2 m high, its level section a square on its corner of 4 m across: 8 m² · 2 m / 3.
const heightAt = (x, y) => Math.max(0, 2 - Math.abs(x - 5) - Math.abs(y - 5));
const HEAP = (8 * 2) / 3;
const heap = (folder) => writeDataset(folder, grid(N, (u, v) => [u * 10000, v * 10000, heightAt(u * 10, v * 10) * 1000], (i, j) => ({
    intensity: (i * 7 + j) % 1000, classification: i % 5, 'return number': 1 + (j % 2), 'gps-time': 3e8 + i * 0.001 + j * 0.000001, 'user mark': i * 1000 + j - 20000,
})), {
    ...ONE_NODE, scale: [0.001, 0.001, 0.001], offset: [EAST, NORTH, 100], projection: 'EPSG:25832',
    attributes: [POSITION, DEFAULT_ATTRIBUTES[1], { name: 'classification', type: 'uint8', numElements: 1 }, { name: 'return number', type: 'uint8', numElements: 1 },
        { name: 'gps-time', type: 'double', numElements: 1 }, { name: 'user mark', type: 'int32', numElements: 1 }],
});
const place = (x, y) => [EAST + x, NORTH + y, 100 + heightAt(x, y)];

async function clickAt(page, ...places) {
    const box = await page.locator('#canvas').boundingBox();
    for (const p of places) {
        const [x, y] = await page.evaluate((q) => window.mote.project(q), p);
        await page.mouse.click(box.x + x, box.y + y);
    }
}

// The legend would lie over a corner.
async function fromAbove(page) {
    await page.addStyleTag({ content: '#legend { display: none; }' });
    await page.evaluate(() => window.mote.setPointSize(1.5, false));
    await press(page, 't');
}

// { name: number } of the last mark in the panel.
async function figures(page) {
    const texts = await page.locator('#marks li').last().locator('dt, dd').allInnerTexts();
    const out = {};
    for (let i = 0; i < texts.length; i += 2) out[texts[i]] = Number(texts[i + 1].replaceAll('\u2009', '').match(/-?[\d.]+/)[0]);
    return out;
}
const near = (a, b, tolerance = 1e-9) => assert.ok(Math.abs(a - b) <= tolerance, `${a} instead of ${b}`);
// All figures are those of all points.
const measured = async (page) => {
    await page.waitForTimeout(500); // a changed filter is seen a moment later
    await page.waitForFunction(() => window.mote.figures.every(({ state }) => state === 'done'));
    await page.waitForTimeout(100);
};
const ready = (page) => page.waitForFunction(() => !document.querySelector('#profile-las').disabled);
const marks = (page) => page.evaluate(() => window.mote.marks);

async function saved(page, button) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator(button).click()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

// Where a handle is: on a busy machine the overlay may be about to draw it anew, and for that moment it has no place.
async function placeOf(page, selector) {
    for (let tries = 0; tries < 100; tries++) {
        await page.locator(selector).waitFor();
        const box = await page.locator(selector).boundingBox();
        if (box) return box;
        await page.waitForTimeout(50);
    }
    throw new Error(`${selector} is not shown`);
}

async function dragHandle(page, selector, to) {
    const canvas = await page.locator('#canvas').boundingBox();
    const from = await placeOf(page, selector);
    const [x, y] = await page.evaluate((q) => window.mote.project(q), to);
    await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
    await page.mouse.down();
    await page.mouse.move(canvas.x + x, canvas.y + y, { steps: 4 });
    await page.mouse.up();
    await idle(page);
}

// Which points of the heap lie in a box of an address.
function countInside({ center, size, yaw }, slack = 0) {
    const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
    let count = 0;
    for (let i = 0; i < N; i++) {
        for (let j = 0; j < N; j++) {
            const [dx, dy, dz] = place(i / 10, j / 10).map((c, k) => c - center[k]);
            if (Math.abs(dx * cos + dy * sin) <= size[0] / 2 + slack && Math.abs(dy * cos - dx * sin) <= size[1] / 2 + slack && Math.abs(dz) <= size[2] / 2 + slack) count++;
        }
    }
    return count;
}

export const MEASURE_CHECKS = {
    'lengths, heights, angles, areas and volumes are those of the points': {
        data: heap,
        async run({ page, out }) {
            await fromAbove(page);
            await press(page, 'd');
            await clickAt(page, place(1, 1), place(4, 1), place(4, 5), place(5, 5));
            await page.keyboard.press('Enter');
            near((await figures(page)).length, 3 + Math.hypot(0, 4, 1) + Math.hypot(1, 1), 6e-4);
            await press(page, 'y');
            await clickAt(page, place(2, 2), place(5, 5));
            const { height, level, distance } = await figures(page);
            near(height, 2);
            near(level, Math.hypot(3, 3), 6e-4);
            near(distance, Math.hypot(3, 3, 2), 6e-4);
            await press(page, 'g');
            await clickAt(page, place(9, 1), place(9, 9), place(1, 9));
            near((await figures(page)).angle, 90);
            await page.locator('[data-tool=area]').click();
            await clickAt(page, place(5, 5), place(5, 3), place(7, 5));
            await page.keyboard.press('Enter');
            const area = await figures(page);
            near(area.area, (Math.hypot(2, 2) * Math.sqrt(8 - 2)) / 2, 1e-3);
            near(area['seen from above'], 2, 1e-6);
            await press(page, 'k');
            await clickAt(page, place(1, 1), place(9, 1), place(9, 9), place(1, 9), place(1, 9)); // the last one twice: that ends it
            await measured(page);
            const volume = await figures(page);
            near(volume.above, HEAP, HEAP * 0.01);
            near(volume.below, 0, 1e-6);
            near(volume.area, 64, 1e-6);
            near(volume.points, 80 * 80, 200);
            assert.equal((await marks(page)).length, 5);
            // A filter leaves half of the heap: the volume is that of what is shown.
            await page.evaluate(() => window.mote.setFilter('height', [100, 101]));
            await page.waitForFunction((v) => document.querySelector('#marks li:last-child dl').innerText !== v, await page.locator('#marks li').last().locator('dl').innerText(), { timeout: 5000 });
            await measured(page); // until all points are counted, the figures are an estimate of both
            assert.ok((await figures(page)).points < volume.points);
            await page.evaluate(() => window.mote.setFilter('height', null));
            await page.keyboard.press('Escape');
            await page.locator('#h-marks').scrollIntoViewIfNeeded();
            await page.waitForTimeout(500);
            await page.screenshot({ path: join(out, 'by-hand-measure.png') });
        },
    },
    'what was measured is undone, kept in the link, saved as GeoJSON and read again': {
        data: heap,
        async run({ page, out, folder, context }) {
            await fromAbove(page);
            await press(page, 'd');
            await clickAt(page, place(1, 1), place(4, 1));
            await page.keyboard.press('Enter');
            await press(page, 'q');
            await clickAt(page, place(5, 1), place(9, 1), place(9, 4));
            await page.keyboard.press('Enter');
            await page.keyboard.press('Escape');
            await press(page, 'j');
            await clickAt(page, place(2, 8));
            await page.keyboard.type('<img src=x onerror=alert(1)>, "quoted"; ~ & more');
            await page.keyboard.press('Enter');
            await page.keyboard.press('Escape');
            const three = await marks(page);
            assert.equal(three.length, 3);
            assert.match(await page.locator('#overlay').innerHTML(), /&lt;img/);
            await press(page, 'Control+z'); // the text
            await press(page, 'Control+z'); // the note
            assert.equal((await marks(page)).length, 2);
            await press(page, 'Control+y');
            await press(page, 'Control+Shift+Z');
            assert.deepEqual(await marks(page), three);
            const { name, bytes } = await saved(page, '#marks-save');
            assert.match(name, /\.geojson$/);
            const json = JSON.parse(bytes);
            assert.deepEqual(json.features.map((f) => f.geometry.type), ['LineString', 'Polygon', 'Point']);
            assert.deepEqual(json.features[0].geometry.coordinates, [place(1, 1), place(4, 1)]);
            near(json.features[0].properties.length, 3, 1e-9);
            assert.match(json.crs.properties.name, /EPSG::25832/);
            await context.grantPermissions(['clipboard-read', 'clipboard-write']);
            await page.locator('#marks-copy').click();
            await page.getByText('copied as text').waitFor();
            assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^Distance\tlength 3\.000\u00a0m\tlevel 3\.000\u00a0m\trise [^\n]*\nArea\tarea 6/);
            const link = await page.evaluate(() => window.mote.link());
            await page.goto(link);
            await idle(page);
            const plain = (list) => list.map(({ kind, points, text }) => ({ kind, points, text }));
            assert.deepEqual(plain(await marks(page)), plain(three));
            await page.locator('#marks-none').click();
            assert.equal((await marks(page)).length, 0);
            const file = join(folder, 'marks.geojson');
            writeFileSync(file, bytes);
            await page.locator('#marks-file').setInputFiles(file);
            await page.locator('#marks li').nth(2).waitFor();
            assert.deepEqual(plain(await marks(page)), plain(three));
            for (const text of ['{', '[]', '{"type":"FeatureCollection","features":[{"geometry":{"type":"Point","coordinates":["<b>",1]}}]}']) {
                writeFileSync(file, text);
                await page.locator('#marks-file').setInputFiles(file);
                await page.locator('#messages').getByText(/is no GeoJSON of marks/).first().waitFor();
                await page.locator('.message button').first().click();
            }
            assert.equal((await marks(page)).length, 3);
            // A corner is dragged to another point, and back by one undo.
            await fromAbove(page);
            await dragHandle(page, '#overlay circle.distance >> nth=1', place(4, 3));
            assert.deepEqual((await marks(page))[0].points[1], place(4, 3));
            await press(page, 'Control+z');
            assert.deepEqual((await marks(page))[0].points[1], place(4, 1));
            await page.screenshot({ path: join(out, 'by-hand-marks.png') });
        },
    },
    'a point tells all its attributes as the file has them': {
        data: heap,
        async run({ page, out }) {
            await fromAbove(page);
            await press(page, 'i');
            await clickAt(page, place(3.7, 6.2));
            await page.locator('#card-list').getByText('user mark').waitFor();
            const text = (await page.locator('#card-list').innerText()).replace(/\s+/g, ' ');
            const [i, j] = [37, 62];
            for (const [name, value] of [['x', '500003.700'], ['y', '5400006.200'], ['z', place(3.7, 6.2)[2].toFixed(3)], ['intensity', (i * 7 + j) % 1000], ['classification', '2 Ground'],
                ['return number', 1], ['gps-time', 300000000.037062], ['user mark', i * 1000 + j - 20000], ['reference system', 'ETRS89 / UTM zone 32N \\(EPSG:25832\\)']])
                assert.match(text, new RegExp(`\\b${name} ${value}`), text);
            await page.screenshot({ path: join(out, 'by-hand-point.png') });
            await page.locator('#card-close').click();
            await page.locator('#marks button', { hasText: 'All attributes' }).click();
            assert.ok(await page.locator('#card').isVisible());
        },
    },
    'a profile has the points beside its line, as CSV and PNG': {
        data: heap,
        needsMote: true,
        async run({ page, out, mote, folder }) {
            await fromAbove(page);
            await press(page, 'n');
            await clickAt(page, place(0.5, 5), place(9.5, 5));
            await page.keyboard.press('Enter');
            await page.keyboard.press('Escape');
            await page.locator('#profile-width').fill('0.5');
            await page.keyboard.press('Enter');
            await page.locator('#profile-count').getByText('455 points').waitFor(); // 91 columns of 5 rows
            await page.screenshot({ path: join(out, 'by-hand-profile.png') });
            const { bytes } = await saved(page, '#profile-csv');
            const [header, ...rows] = bytes.toString().trim().split('\r\n').map((row) => row.split(','));
            assert.deepEqual(header, ['x', 'y', 'z', 'intensity', 'classification', 'return number', 'gps-time', 'user mark', 'along', 'aside']);
            assert.equal(rows.length, 455);
            for (const [x, y, z, intensity, classification, number, time, mark, along, aside] of rows.map((row) => row.map(Number))) {
                const [i, j] = [Math.round((x - EAST) * 10), Math.round((y - NORTH) * 10)];
                near(along, x - EAST - 0.5, 1e-7);
                near(aside, NORTH + 5 - y, 1e-7);
                near(z, place(i / 10, j / 10)[2], 1e-9);
                assert.ok(Math.abs(y - NORTH - 5) <= 0.25 + 1e-9);
                assert.deepEqual([intensity, classification, number, mark], [(i * 7 + j) % 1000, i % 5, 1 + (j % 2), i * 1000 + j - 20000]);
                near(time, 3e8 + i * 0.001 + j * 0.000001, 1e-9);
            }
            assert.ok(rows.every((row, i) => i === 0 || Number(row[8]) >= Number(rows[i - 1][8])), 'in the order of the line');
            // The LAS file, read by the command, has the same points with their attributes.
            const file = join(folder, 'profile.las');
            writeFileSync(file, (await saved(page, '#profile-las')).bytes);
            execFileSync(mote, ['convert', file, '-o', join(folder, 'profile.csv'), '-q']);
            const [names, ...lines] = readFileSync(join(folder, 'profile.csv'), 'utf8').trim().split('\n').map((line) => line.replace(/^#\s*/, '').split(/[,\s]+/));
            assert.equal(lines.length, 455);
            const column = (name) => names.findIndex((n) => n.toLowerCase() === name);
            for (const line of lines) {
                const [i, j] = [Math.round((line[column('x')] - EAST) * 10), Math.round((line[column('y')] - NORTH) * 10)];
                near(Number(line[column('z')]), place(i / 10, j / 10)[2], 1e-6);
                assert.equal(Number(line[column('intensity')]), (i * 7 + j) % 1000);
                assert.equal(Number(line[column('classification')]), i % 5);
                assert.equal(Number(line[column('return_number')]), 1 + (j % 2));
                near(Number(line[column('gps_time')]), 3e8 + i * 0.001 + j * 0.000001, 1e-6);
            }
            const png = readPng((await saved(page, '#profile-png')).bytes);
            assert.ok(png.width > 300 && png.height > 100);
            await page.evaluate(() => window.mote.setFilter('height', [101, 102]));
            await page.locator('#profile-count').getByText(/^\d\d points/).waitFor();
            await page.locator('#profile-close').click();
            assert.ok(!(await page.locator('#profile').isVisible()));
        },
    },
    'a profile as LAS has all points of the file beside the line, not only those drawn, where no filter hides any': {
        needsMote: true,
        data: (folder, mote) => makeCity(mote, folder, 'city.copc.laz'),
        async run({ page, url, mote, folder }) {
            const read = (name) => {
                execFileSync(mote, ['convert', join(folder, name), '-o', join(folder, `${name}.csv`), '-q']);
                return readFileSync(join(folder, `${name}.csv`), 'utf8').trim().split('\n').slice(1).map((line) => line.split(/[,\s]+/).slice(0, 3).map(Number));
            };
            const all = read('city.las');
            const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((k) => all.reduce((m, p) => f(m, p[k]), all[0][k])));
            const at = (u, v) => [low[0] + u * (high[0] - low[0]), low[1] + v * (high[1] - low[1])];
            const path = [at(0.1, 0.2), at(0.6, 0.45), at(0.55, 0.9)].map(([x, y]) => [Math.round(x) + 0.0003, Math.round(y) + 0.0003]);
            const width = 20;
            const beside = all.filter(([x, y]) => path.slice(1).some(([bx, by], i) => {
                const [ax, ay] = path[i];
                const length = Math.hypot(bx - ax, by - ay);
                const [u, v] = [((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length, ((x - ax) * (by - ay) - (y - ay) * (bx - ax)) / length];
                return u >= 0 && u <= length && Math.abs(v) <= width / 2;
            }));
            assert.ok(beside.length > 1000, `${beside.length} points`);
            const mark = encodeURIComponent(`profile;w${width};${path.map((p) => [...p, 0].join()).join(';')}`);
            await page.goto(withQuery(url, PLAIN, `budget=2000&mark=${mark}`));
            await idle(page);
            await page.getByText('Show profile').click();
            await ready(page);
            const save = async (name) => {
                writeFileSync(join(folder, name), (await saved(page, '#profile-las')).bytes);
                return read(name);
            };
            const sorted = (points) => points.map((p) => p.join()).sort();
            assert.deepEqual(sorted(await save('all.las')), sorted(beside));
            // What is hidden is not saved.
            await page.evaluate(() => window.mote.hideClasses([2]));
            await page.waitForFunction(() => document.querySelector('#profile-las').disabled);
            await ready(page);
            assert.ok((await save('shown.las')).length < beside.length / 2);
            // Who is no page of this server, asks for nonsense or for another cloud is refused.
            const ask = (url, headers = {}) => fetch(new URL(url, page.url()), { method: 'POST', headers }).then(({ status }) => status);
            const origin = { Origin: new URL(page.url()).origin };
            assert.deepEqual(await Promise.all(['strip/1?path=0,0,1,1&width=1', 'strip/1?path=0,0,1,1&width=1'].map((url, i) => ask(url, i ? { Origin: 'http://elsewhere' } : {}))), [403, 403]);
            for (const query of ['', '?path=0,0&width=1', '?path=0,0,1,x&width=1', '?path=0,0,1,1&width=-1', '?path=0,0,1,1&width=1&radians=-1', `?path=${'0,0,'.repeat(300)}1,1&width=1`])
                assert.equal(await ask(`strip/1${query}`, origin), 400, query);
            for (const name of ['strip/2?path=0,0,1,1&width=1', 'strip/0?path=0,0,1,1&width=1', 'strip/1x?path=0,0,1,1&width=1']) assert.equal(await ask(name, origin), 404);
        },
    },
    'a clip box is dragged and turned by its handles; what it cuts off is not there': {
        data: heap,
        async run({ page, out }) {
            await fromAbove(page);
            const shown = async () => (await stats(page)).pointsDrawn;
            const right = async (what) => {
                await idle(page);
                const [box] = await marks(page);
                // Points that lie on a side of the box may count or not: what is drawn is rounded to 32 bits.
                const [few, many] = [-1e-5, 1e-5].map((slack) => countInside(box, slack));
                const count = box.inside ? await shown() : N * N - (await shown());
                assert.ok(count >= few && count <= many, `${what}: ${count} points, not ${few} to ${many}`);
                assert.ok((await shown()) > 0 && (await shown()) < N * N, what);
                return box;
            };
            await press(page, 'z');
            const first = await right('the box');
            await dragHandle(page, '#overlay .face.axis-0 >> nth=1', place(8.03, 5));
            const second = await right('a side');
            assert.ok(Math.abs(second.center[0] + second.size[0] / 2 - EAST - 8) < 0.25 && second.size[0] > first.size[0]);
            near(second.center[0] - second.size[0] / 2, first.center[0] - first.size[0] / 2, 1e-6); // the other side stays
            await dragHandle(page, '#overlay .center', place(4.03, 4.52));
            await right('the middle');
            await dragHandle(page, '#overlay .turn', place(8, 8));
            assert.ok(Math.abs((await right('turned')).yaw) > 0.2);
            await page.screenshot({ path: join(out, 'by-hand-clip.png') });
            // What is cut off is not measured.
            await press(page, 'd');
            await clickAt(page, place(0.2, 9.8));
            await page.getByText('There is no point under the cursor.').waitFor();
            await page.keyboard.press('Escape');
            await page.locator('#marks select').selectOption('out');
            await right('hidden inside');
            const link = await page.evaluate(() => window.mote.link());
            const before = await shown();
            await page.goto(link);
            await idle(page);
            near(await shown(), before, 0);
            await page.locator('#marks .remove').click();
            await idle(page);
            near(await shown(), N * N, 0);
        },
    },
    'planes that mote found are shown as polygons, and tell their equation': {
        needsMote: true,
        data(folder, mote) {
            execFileSync(mote, ['gen', 'room', '-o', join(folder, 'room.las'), '-n', '30k', '-q']);
            execFileSync(mote, ['lod', join(folder, 'room.las'), '-o', join(folder, 'room.mote'), '-q']);
            writeFileSync(join(folder, 'planes.json'), execFileSync(mote, ['planes', join(folder, 'room.las'), '--json', '-q'], { maxBuffer: 1 << 26 }));
            return join(folder, 'room.mote');
        },
        async run({ page, folder, out }) {
            const { planes } = JSON.parse(readFileSync(join(folder, 'planes.json')));
            assert.ok(planes.length >= 6);
            await page.locator('#marks-file').setInputFiles(join(folder, 'planes.json'));
            await page.locator('#marks li').nth(planes.length - 1).waitFor();
            const [first] = await marks(page);
            assert.deepEqual(first.points, planes[0].boundary);
            await page.locator('#overlay text.plane', { hasText: /^Plane 0$/ }).dispatchEvent('click');
            const said = await page.locator('#said').innerText();
            assert.ok(said.includes(`${Math.abs(planes[0].normal[0]).toFixed(6)} x`) && said.includes(`= ${planes[0].offset.toFixed(3)}`), said);
            assert.ok(!(await page.evaluate(() => window.mote.link())).includes('plane;'));
            const { bytes } = await saved(page, '#marks-save');
            assert.deepEqual(JSON.parse(bytes).features[0].properties.normal, planes[0].normal);
            await page.screenshot({ path: join(out, 'by-hand-planes.png') });
        },
    },
};
