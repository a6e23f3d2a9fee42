// Where points are: strays, degrees, one point, tiny extents; and what is said where there are none.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from './checks.mjs';
import { facts, grid, lit, middle, numbersIn, ONE_NODE, pickedText, plain, POSITION, press, PLAIN, withQuery } from './hand.mjs';
import { DEFAULT_ATTRIBUTES, terrain, writeDataset } from '../viewer/make_dataset.mjs';

const DEGREES = {
    ...ONE_NODE, scale: [1e-7, 1e-7, 0.01], offset: [-123.07, 44.05, 100],
    attributes: [POSITION], projection: 'EPSG:4326',
};

// 0.01 degrees east and north, 30 m up: a slope.
const degrees = (folder, options = {}) => writeDataset(folder, grid(120, (u, v) => [u * 1e5, v * 1e5, u * 3000]), { ...DEGREES, ...options });

// A slope of 20 x 20 m, and one point as far away as the zero of coordinates mostly is.
function slopeWithStray(folder, mote, stray) {
    const rows = [stray.join(' ')];
    for (let i = 0; i < 200; i++) for (let j = 0; j < 200; j++) rows.push(`${500000 + i / 10} ${5400000 + j / 10} ${300 + i / 40}`);
    const file = join(folder, 'slope.xyz');
    writeFileSync(file, `x y z\n${rows.join('\n')}\n`);
    execFileSync(mote, ['lod', file, join(folder, 'slope.mote'), '-q']);
    for (const name of ['metadata.json', 'hierarchy.bin', 'octree.bin']) cpSync(join(folder, 'slope.mote', name), join(folder, name));
    rmSync(join(folder, 'slope.mote'), { recursive: true });
}

export const PLACE_CHECKS = {
    'one point far away leaves the others in view, sharp and in all colours of the ramp': {
        needsMote: true,
        data: (folder, mote) => slopeWithStray(folder, mote, [0, 0, 0]),
        query: 'color=height',
        async run({ page, out }) {
            await plain(page);
            await idle(page);
            await page.screenshot({ path: join(out, 'by-hand-stray.png') });
            const seen = await lit(page);
            assert.ok(seen.width > 300 && seen.count > 20000, `${seen.width} pixels wide, ${seen.count} pixels`);
            assert.ok(seen.colours.size > 40, `${seen.colours.size} colours`);
            await press(page, 't'); // from above: rows of points are 10 cm apart, not as far as floats from zero are
            const above = await lit(page);
            assert.ok(Math.abs(above.width / above.height - 1) < 0.1, `${above.width} x ${above.height} pixels of a square`);
        },
    },
    'longitude and latitude are drawn in metres, coordinates stay those of the file': {
        data: (folder) => degrees(folder),
        async run({ page, out }) {
            await plain(page);
            await press(page, 't');
            const above = await lit(page);
            assert.ok(Math.abs(above.width / above.height - 0.721) < 0.03, `from above ${above.width} × ${above.height} pixels`);
            await press(page, 's');
            const side = await lit(page);
            assert.ok(side.width > 10 * side.height && side.height > 10, `from the south ${side.width} × ${side.height} pixels`);
            assert.match(await page.locator('#subtitle').innerText(), /drawn in metres/);
            assert.match(await facts(page), /1° east = 80 \d\d\d m/);
            await press(page, 't');
            const [x, y] = await middle(page);
            await page.mouse.dblclick(x + 40, y - 60);
            await idle(page);
            const [lon, lat, height] = numbersIn(await pickedText(page));
            const steps = [(lon + 123.07) * 1e7, (lat - 44.05) * 1e7].map((s) => (s / 1e5) * 119);
            for (const s of steps) assert.ok(Math.abs(s - Math.round(s)) < 2e-3, `${lon} ${lat} is no point of the file`);
            assert.ok(Math.abs(height - (100 + (Math.round(steps[0]) / 119) * 30)) < 0.006, `height ${height}`);
            await page.screenshot({ path: join(out, 'by-hand-degrees.png') });
        },
    },
    'degrees without a named system, and drawn as they are when the address says so': {
        data: (folder) => degrees(folder, { projection: '' }),
        async run({ page, url }) {
            assert.ok(await page.evaluate(() => window.mote.metadata().isLonLat));
            await page.goto(withQuery(url, PLAIN, 'lonlat=0'));
            await idle(page);
            assert.ok(!(await page.evaluate(() => window.mote.metadata().isLonLat)));
            assert.ok(!/drawn in metres/.test(await page.locator('#subtitle').innerText()));
        },
    },
    'a bird far above does not make everything else one colour': {
        data(folder) {
            const points = terrain(5000).map((p) => ({ ...p, 'gps-time': 206860645 + p.index }));
            Object.assign(points[7], { position: [100000, 100000, 4000000], 'gps-time': 0 });
            writeDataset(folder, points, { ...ONE_NODE, attributes: [POSITION, DEFAULT_ATTRIBUTES[4]] });
        },
        async run({ page }) {
            const highest = async () => numbersIn(await page.locator('#legend .ends').innerText()).at(-1);
            assert.ok((await highest()) < 40, 'heights');
            await page.evaluate(() => window.mote.setColorMode('gps-time'));
            await idle(page);
            const times = await page.locator('#legend').innerText();
            assert.ok(!/2011/.test(times) && /2018/.test(times), times);
            await page.locator('#range-full').click();
            assert.match(await page.locator('#legend').innerText(), /2011/);
        },
    },
    'one point is found': {
        data: (folder) => writeDataset(folder, [{ index: 0, position: [0, 0, 0], rgb: [65535, 0, 0], classification: 2 }], { offset: [5e6, 4e6, 100] }),
        async run({ page }) {
            const { count } = await lit(page);
            assert.ok(count >= 20, `${count} pixels`);
            assert.equal(await page.locator('#s-points').innerText(), '1 point');
            assert.equal(await page.locator('#subtitle').innerText(), '1 point');
            await page.mouse.dblclick(...(await middle(page)));
            assert.match(await pickedText(page), /5000000\.000, 4000000\.000, 100\.000/);
            for (const key of ['t', 's', 'f', 'b', 'PageUp', 'PageDown', 'c', 'u']) await press(page, key);
            assert.ok((await lit(page)).count >= 20);
        },
    },
    'extents of a micrometre at coordinates of ten thousand kilometres': {
        data: (folder) => writeDataset(folder, grid(100, (u, v) => [u * 1000, v * 1000, 0]), { ...ONE_NODE, attributes: [POSITION], scale: [1e-9, 1e-9, 1e-9], offset: [0, 0, 0] }),
        async run({ page }) {
            await press(page, 't');
            const { width, height } = await lit(page);
            assert.ok(width > 200 && height > 200, `${width} × ${height} pixels`);
            assert.match(await facts(page), /Resolution\s+0\.000000001/);
        },
    },
    'an empty data set says so': {
        data: (folder) => writeDataset(folder, [], ONE_NODE),
        noIdle: true,
        async run({ page }) {
            await page.getByText(/has no points|0 points/).first().waitFor();
            for (const key of ['f', 't', 'b', 'c', 'PageUp']) await page.keyboard.press(key);
            await page.mouse.move(...(await middle(page)));
            await page.mouse.wheel(0, -100);
            await page.mouse.dblclick(...(await middle(page)));
        },
    },
    'missing and broken files are told in words': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        noIdle: true,
        loud: true,
        async run({ page, url, folder }) {
            const metadata = readFileSync(join(folder, 'metadata.json'), 'utf8');
            const says = async (pattern) => {
                await page.goto(url);
                await page.locator('#messages').getByText(pattern).first().waitFor({ timeout: 15000 });
                await page.getByText('Nothing to show.').waitFor({ timeout: 5000 });
                assert.ok(!(await page.locator('.spinner').isVisible()), 'it does not wait for ever');
            };
            writeFileSync(join(folder, 'metadata.json'), metadata.slice(0, 300));
            await says(/metadata\.json is not valid JSON/);
            writeFileSync(join(folder, 'metadata.json'), metadata);
            const octree = readFileSync(join(folder, 'octree.bin'));
            writeFileSync(join(folder, 'octree.bin'), octree.subarray(0, 100));
            await says(/octree\.bin ends early/);
            rmSync(join(folder, 'octree.bin'));
            await says(/Cannot read octree\.bin\. It is not there/);
            rmSync(join(folder, 'hierarchy.bin'));
            await says(/Cannot read hierarchy\.bin\. It is not there/);
        },
    },
    'a browser without WebGL 2 is told': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        noIdle: true,
        loud: true,
        before: (page) => page.addInitScript(() => {
            HTMLCanvasElement.prototype.getContext = () => null;
        }),
        async run({ page }) {
            await page.getByText(/cannot draw with WebGL 2/).waitFor();
            assert.ok(!(await page.locator('.spinner').isVisible()));
        },
    },
    'a page opened as a file says what it needs': {
        data: (folder) => writeDataset(folder, terrain(100), ONE_NODE),
        noIdle: true,
        loud: true,
        async run({ page, dist }) {
            await page.goto(`file://${join(dist, 'index.html')}`);
            assert.match(await page.locator('#late').innerText(), /must come from a web server/);
            await page.locator('#late').evaluate((e) => e.getAnimations().forEach((a) => a.finish()));
            assert.equal(await page.locator('#late').evaluate((e) => getComputedStyle(e).opacity), '1');
        },
    },
};
