// Where people stumble: each check does by hand what a person would, on a small data set of its own.
//   node tests/browser/by_hand.mjs [--mote BINARY] [--dist FOLDER_OF_THE_PAGE] [--out DIR] [NAME...]
// Ends with 1 if anything is wrong. Pictures are left in DIR.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openPage, withBrowser, withTimeout } from './browser.mjs';
import { startServer } from './servers.mjs';
import { startStatic } from './static_server.mjs';
import { idle, stats } from './checks.mjs';
import { BARE, bluePixels, DESKTOP, facts, grid, lit, middle, numbersIn, ONE_NODE, PHONE, pickedText, PLAIN, plain, POSITION, press, withQuery } from './hand.mjs';
import { LINK_CHECKS } from './hand_links.mjs';
import { FEEL_CHECKS } from './hand_feel.mjs';
import { COPC_CHECKS } from './hand_copc.mjs';
import { FILTER_CHECKS } from './hand_filters.mjs';
import { LIVE_CHECKS } from './hand_live.mjs';
import { CLOUD_CHECKS } from './hand_clouds.mjs';
import { HOSTILE_CHECKS } from './hand_hostile.mjs';
import { MARKS_CHECKS } from './hand_marks.mjs';
import { MEASURE_CHECKS } from './hand_measure.mjs';
import { FIGURE_CHECKS } from './hand_figures.mjs';
import { COLOUR_CHECKS } from './hand_colours.mjs';
import { MAPS_CHECKS } from './hand_maps.mjs';
import { SAVE_CHECKS } from './hand_save.mjs';
import { MOVING_CHECKS } from './hand_moving.mjs';
import { VIEW_CHECKS } from './hand_views.mjs';
import { DEFAULT_ATTRIBUTES, quads, terrain, writeDataset } from '../viewer/make_dataset.mjs';

const MAX_CHECK_MS = 90000;

function parseArguments(args) {
    const o = { mote: null, dist: null, out: 'browser-test', names: [] };
    for (let i = 0; i < args.length; i++) {
        if (args[i] === '--mote') o.mote = resolve(args[++i]);
        else if (args[i] === '--dist') o.dist = resolve(args[++i]);
        else if (args[i] === '--out') o.out = args[++i];
        else o.names.push(args[i]);
    }
    return o;
}

const DEGREES = {
    ...ONE_NODE, scale: [1e-7, 1e-7, 0.01], offset: [-123.07, 44.05, 100],
    attributes: [POSITION], projection: 'EPSG:4326',
};
// 0.01 degrees east and north, 30 m up: a slope.
const degrees = (folder, options = {}) => writeDataset(folder, grid(120, (u, v) => [u * 1e5, v * 1e5, u * 3000]), { ...DEGREES, ...options });

const RGB = DEFAULT_ATTRIBUTES.find((a) => a.name === 'rgb');
const blackPoints = () => terrain(3000).map((p) => ({ ...p, rgb: [0, 0, 0] }));

function changeMetadata(folder, change) {
    const file = join(folder, 'metadata.json');
    const metadata = JSON.parse(readFileSync(file, 'utf8'));
    change(metadata);
    writeFileSync(file, JSON.stringify(metadata));
}

// A slope of 20 x 20 m, and one point as far away as the zero of coordinates mostly is.
function slopeWithStray(folder, stray) {
    const rows = [stray.join(' ')];
    for (let i = 0; i < 200; i++) for (let j = 0; j < 200; j++) rows.push(`${500000 + i / 10} ${5400000 + j / 10} ${300 + i / 40}`);
    const file = join(folder, 'slope.xyz');
    writeFileSync(file, `x y z\n${rows.join('\n')}\n`);
    execFileSync(options.mote, ['lod', file, join(folder, 'slope.mote'), '-q']);
    for (const name of ['metadata.json', 'hierarchy.bin', 'octree.bin']) cpSync(join(folder, 'slope.mote', name), join(folder, name));
    rmSync(join(folder, 'slope.mote'), { recursive: true });
}

const CHECKS = {
    'one point far away leaves the others in view, sharp and in all colours of the ramp': {
        needsMote: true,
        data: (folder) => slopeWithStray(folder, [0, 0, 0]),
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
    'the bounding box shows over the background with eye-dome lighting': {
        data: (folder) => writeDataset(folder, terrain(20000), ONE_NODE),
        async run({ page }) {
            await page.evaluate(() => window.mote.setBoundingBox(true));
            await page.evaluate(() => window.mote.setEyeDome(0));
            await idle(page);
            const without = bluePixels(await lit(page));
            await page.evaluate(() => window.mote.setEyeDome(1));
            await idle(page);
            const withIt = bluePixels(await lit(page));
            assert.ok(without > 300, `${without} pixels of the box`);
            assert.ok(withIt > without * 0.9, `${withIt} pixels of the box with lighting, ${without} without`);
        },
    },
    'a hidden class is hidden in every colouring and cannot be picked': {
        data: (folder) => writeDataset(folder, quads(200), ONE_NODE),
        query: 'color=classification',
        async run({ page }) {
            await plain(page);
            await press(page, 't');
            const whole = await lit(page);
            await page.locator('#legend label', { hasText: 'Building' }).locator('input').click();
            await idle(page);
            const less = await lit(page);
            assert.ok(less.count < whole.count * 0.85, 'the class goes');
            const yellow = async () => [...(await lit(page)).colours.keys()].filter((key) => {
                const [r, g, b] = key.split(',').map(Number);
                return r > 200 && g > 170 && b < 90;
            }).length;
            for (const mode of await page.evaluate(() => window.mote.colorModes)) {
                await page.evaluate((m) => window.mote.setColorMode(m), mode);
                await idle(page);
                const now = await lit(page);
                assert.ok(Math.abs(now.count - less.count) < less.count * 0.02, `${mode}: ${now.count} pixels, ${less.count} by class`);
                if (mode === 'rgb') assert.equal(await yellow(), 0, 'no pixel of the hidden quarter');
            }
            // The quarter lies to the upper right.
            const box = await page.locator('#canvas').boundingBox();
            const at = [box.x + (whole.left + whole.right * 3) / 4, box.y + (whole.top * 3 + whole.bottom) / 4];
            await page.mouse.dblclick(...at);
            await idle(page);
            assert.equal(await pickedText(page), '', 'a hidden point was picked');
            assert.match(await page.locator('#s-points').innerText(), /^30 000 points, 1 class hidden$/);
            // The panel has the same boxes whatever the colours; a key brings all back.
            assert.ok(!(await page.locator('#classes label', { hasText: 'Building' }).locator('input').isChecked()));
            await press(page, 'v');
            assert.equal((await stats(page)).pointsDrawn, 40000);
            await page.waitForTimeout(500); // a second double click at once counts as one with the first
            await page.mouse.dblclick(...at);
            await idle(page);
            assert.notEqual(await pickedText(page), '');
        },
    },
    'classes that the address hides; all of them hidden is said': {
        data: (folder) => writeDataset(folder, quads(60), ONE_NODE),
        query: 'hide=2,5,9,6',
        async run({ page }) {
            await page.locator('#hint').waitFor({ timeout: 8000 });
            assert.match(await page.locator('#hint').innerText(), /4 classes are hidden: V shows all/);
            assert.equal((await lit(page)).count, 0);
            await press(page, 'v');
            assert.ok(!(await page.locator('#hint').isVisible()));
            assert.ok((await lit(page)).count > 1000);
        },
    },
    'the wheel over the background zooms to what is nearest': {
        data: (folder) => writeDataset(folder, terrain(6000), { grid: 32, leaf: 2000 }),
        async run({ page }) {
            const size = await page.evaluate(() => Math.hypot(...window.mote.metadata().box.max.map((m, i) => m - window.mote.metadata().box.min[i])));
            const box = await page.locator('#canvas').boundingBox();
            await plain(page);
            for (const [x, y] of [[0.97, 0.03], [0.03, 0.97]]) {
                await press(page, 'r');
                await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
                for (let i = 0; i < 14; i++) await page.mouse.wheel(0, -240);
                await page.waitForTimeout(100);
                await idle(page);
                const s = await page.evaluate(() => window.mote.camera.distance);
                assert.ok(s < size * 0.05, `after zooming in at ${x}, ${y} the distance is ${s} of ${size}`);
                assert.ok((await lit(page)).count > 20, `after zooming in at ${x}, ${y} nothing is seen`);
            }
        },
    },
    'page up goes to what is in the middle': {
        // A tube of radius 40: its middle, the target, is empty.
        data: (folder) => writeDataset(folder, grid(100, (u, v) => {
            const angle = 2 * Math.PI * u;
            return [50000 + 40000 * Math.cos(angle), 50000 + 40000 * Math.sin(angle), v * 40000];
        }), { ...ONE_NODE, attributes: [POSITION] }),
        async run({ page }) {
            await plain(page);
            for (let i = 0; i < 25; i++) await page.keyboard.press('PageUp');
            await idle(page);
            const radius = await page.evaluate(() => {
                const { target, yaw, pitch, distance } = window.mote.camera;
                const back = Math.cos(pitch) * distance;
                return Math.hypot(target[0] + Math.sin(yaw) * back - 50, target[1] - Math.cos(yaw) * back - 50);
            });
            assert.ok(Math.abs(radius - 40) < 6, `the eye is ${radius} from the axis of a tube of radius 40`);
            assert.ok((await lit(page)).count > 20, 'nothing is seen');
        },
    },
    'an empty view says which key brings the cloud back': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page }) {
            assert.ok(!(await page.locator('#hint').isVisible()));
            await page.evaluate(() => {
                const { camera } = window.mote;
                window.mote.camera = { ...camera, target: camera.target.map((c) => c + 5000) };
            });
            await page.locator('#hint').waitFor({ timeout: 8000 });
            assert.match(await page.locator('#hint').innerText(), /F fits the cloud/);
            await page.mouse.move(...(await middle(page)));
            await page.mouse.wheel(0, -240); // into nothing: towards the cloud, not away from it
            await press(page, 'f');
            await page.locator('#hint').waitFor({ state: 'hidden', timeout: 8000 });
            assert.ok((await lit(page)).count > 200);
        },
    },
    'keys work after a box, a slider, a list and a field were used': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page }) {
            const pitch = () => page.evaluate(() => window.mote.camera.pitch);
            const works = async (what) => {
                await press(page, 't');
                assert.ok((await pitch()) > 1.5, `T after ${what}`);
                await press(page, 's');
                assert.ok(Math.abs(await pitch()) < 0.01, `S after ${what}`);
                await page.keyboard.press('ArrowUp');
                assert.ok((await pitch()) > 0.01, `an arrow after ${what}`);
            };
            await page.locator('#box').click();
            await works('a click on a box');
            for (const id of ['#budget', '#error', '#size']) {
                await page.locator(id).click({ position: { x: 60, y: 5 } });
                await works(`a click on the slider ${id}`);
            }
            await page.locator('#box').focus();
            await page.keyboard.press('Space');
            assert.ok(!(await page.locator('#box').isChecked()), 'space still belongs to the box');
            await works('a box ticked by the keyboard');
            await page.locator('#size').focus();
            await page.keyboard.press('t');
            assert.ok((await pitch()) > 1.5, 'T while the slider has the keyboard');
            const before = await page.locator('#size').inputValue();
            await page.keyboard.press('ArrowRight');
            assert.notEqual(await page.locator('#size').inputValue(), before, 'arrows belong to the slider');
            await page.evaluate(() => window.mote.setColorMode('height'));
            await page.locator('#low').fill('300');
            await page.keyboard.press('Enter');
            await works('a number and Enter');
            await page.locator('#mode').focus();
            await page.keyboard.press('Escape');
            await works('a list and Escape');
            await page.keyboard.press('h');
            assert.ok(await page.locator('#help').isVisible());
            await page.keyboard.press('h');
            assert.ok(!(await page.locator('#help').isVisible()), 'H closes what it opened');
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
    'RGB is neither offered nor chosen where all colours are 0': {
        data: (folder) => writeDataset(folder, blackPoints(), ONE_NODE),
        async run({ page }) {
            assert.ok(!(await page.evaluate(() => window.mote.colorModes)).includes('rgb'));
            assert.equal(await page.evaluate(() => window.mote.colorMode), 'height');
            assert.ok((await lit(page)).count > 200);
        },
    },
    'nor where the metadata does not tell': {
        data(folder) {
            writeDataset(folder, blackPoints(), ONE_NODE);
            changeMetadata(folder, (m) => m.attributes.forEach((a) => delete a.min && delete a.max));
        },
        async run({ page }) {
            assert.ok(!(await page.evaluate(() => window.mote.colorModes)).includes('rgb'));
            assert.ok(!(await page.locator('#mode').innerText()).includes('RGB'));
            assert.notEqual(await page.evaluate(() => window.mote.colorMode), 'rgb');
        },
    },
    'angles in degrees, times with a date, one node is one': {
        data: (folder) => writeDataset(folder, terrain(2000).map((p, i) => ({ ...p, 'scan angle': i - 1000, 'gps-time': 206860645 + i * 50 })), {
            ...ONE_NODE, attributes: [POSITION, { name: 'scan angle', type: 'int16', numElements: 1 }, DEFAULT_ATTRIBUTES[4]],
            projection: '+proj=utm +zone=32 +datum=WGS84',
        }),
        async run({ page, out }) {
            const legend = async (mode) => {
                await page.evaluate((m) => window.mote.setColorMode(m), mode);
                await idle(page);
                return page.locator('#legend').innerText();
            };
            assert.match(await legend('scan angle'), /Scan angle\n-6°\n0°\n6°/);
            assert.match(await legend('gps-time'), /2018-04-04 07:03:47 UTC/);
            await page.screenshot({ path: join(out, 'by-hand-times.png') });
            assert.equal(await page.locator('#s-nodes').innerText(), '1 node, 1 level');
            assert.match(await facts(page), /Levels\s+1\n/);
            assert.match(await facts(page), /Resolution\s+1 mm/);
            assert.match(await facts(page), /UTM zone 32N \(WGS84\)/);
        },
    },
    'levels are counted in one way': {
        data: (folder) => writeDataset(folder, terrain(20000), { grid: 16, leaf: 200 }),
        async run({ page }) {
            await page.evaluate(() => window.mote.setMaxError(0));
            await idle(page);
            const [, levels] = numbersIn((await page.locator('#s-nodes').innerText()).replaceAll(' ', ''));
            assert.ok(levels > 2);
            assert.match(await facts(page), new RegExp(`Levels\\s+${levels}\\n`));
            await page.evaluate(() => window.mote.setColorMode('level'));
            assert.equal((await page.locator('#legend').innerText()).trim().split('\n').length, levels + 1);
        },
    },
    'a model with y up is turned upright by a key or the address': {
        data: (folder) => writeDataset(folder, grid(150, (u, v) => [u * 2000, v * 10000, u * 1000]), { ...ONE_NODE, attributes: [POSITION] }),
        async run({ page, url }) {
            await plain(page);
            await press(page, 's');
            const lying = await lit(page);
            assert.ok(lying.width > lying.height, 'it lies');
            await press(page, 'u');
            await press(page, 's');
            const upright = await lit(page);
            assert.ok(upright.height > 3 * upright.width, `upright ${upright.width} × ${upright.height}`);
            assert.equal(await page.locator('#up').inputValue(), 'y');
            await page.evaluate(() => window.mote.setColorMode('height'));
            assert.match(await page.locator('#legend').innerText(), /Height \(Y\)\n0\n5\n10/);
            await page.goto(withQuery(url, PLAIN, 'up=y'));
            await page.addStyleTag({ content: BARE });
            await idle(page);
            await plain(page);
            await press(page, 's');
            const again = await lit(page);
            assert.ok(again.height > 3 * again.width);
        },
    },
    'on a phone the coordinates are not cut': {
        viewport: PHONE,
        data: (folder) => writeDataset(folder, terrain(20000), { ...ONE_NODE, offset: [5500000.123, 54000000.456, 31200.5] }),
        query: 'color=classification',
        async run({ page, out }) {
            await page.mouse.dblclick(...(await middle(page)));
            await idle(page);
            const text = await pickedText(page);
            assert.match(text, /x y z\s+5500\d+\.\d{3}, 5400\d+\.\d{3}, 31\d+\.\d{3} · class 2 Ground/);
            const box = await page.locator('#s-pick').boundingBox();
            assert.ok(box.x >= 0 && box.x + box.width <= PHONE.width && box.y + box.height <= PHONE.height, JSON.stringify(box));
            const isWhole = await page.locator('#s-pick').evaluate((e) => {
                const range = document.createRange();
                range.selectNodeContents(e);
                return [...range.getClientRects()].every((r) => r.left >= 0 && r.right <= innerWidth && r.bottom <= innerHeight);
            });
            assert.ok(isWhole, 'the text is cut');
            const legend = await page.locator('#legend').boundingBox();
            assert.ok(legend.y + legend.height <= box.y + 1, 'the legend lies over the coordinates');
            await page.screenshot({ path: join(out, 'by-hand-phone.png') });
            await page.locator('#panel-toggle').click();
            const panel = await page.locator('#panel').boundingBox();
            assert.ok(panel.x >= 0 && panel.x + panel.width <= PHONE.width + 1);
            await page.screenshot({ path: join(out, 'by-hand-phone-panel.png') });
        },
    },
    'two taps of a finger are a double click': {
        viewport: PHONE,
        data: (folder) => writeDataset(folder, terrain(20000), ONE_NODE),
        async run({ page }) {
            const [x, y] = await middle(page);
            const session = await page.context().newCDPSession(page);
            const before = await page.evaluate(() => window.mote.camera.distance);
            for (let tap = 0; tap < 2; tap++) {
                await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
                await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
            }
            await idle(page);
            assert.match(await pickedText(page), /x y z/);
            const after = await page.evaluate(() => window.mote.camera.distance);
            assert.ok(after < before && after > before * 0.2, 'it goes nearer once');
            // Two fingers that part zoom in.
            const fingers = (d) => [{ x: x - d, y, id: 0 }, { x: x + d, y, id: 1 }];
            await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(20) });
            for (const d of [30, 40, 60]) await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(d) });
            await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
            assert.ok((await page.evaluate(() => window.mote.camera.distance)) < after * 0.6);
        },
    },
    'what is not a number has no place on the ramp': {
        data: (folder) => writeDataset(folder, grid(80, (u, v) => [u * 10000, v * 10000, 0], (i) => ({ noise: i < 40 ? NaN : i / 80 })), {
            ...ONE_NODE, attributes: [POSITION, { name: 'noise', type: 'float', numElements: 1 }],
        }),
        query: 'color=noise',
        async run({ page }) {
            await page.evaluate(() => {
                window.mote.setEyeDome(0);
                window.mote.setPointSize(4, false);
            });
            await press(page, 't');
            const { colours, count } = await lit(page);
            const grey = [...colours].reduce((sum, [key, n]) => sum + (key === '140,153,168' ? n : 0), 0);
            assert.ok(grey > count * 0.4 && grey < count * 0.6, `${grey} of ${count} pixels are grey`);
            assert.match(await page.locator('#legend').innerText(), /0\.5.*\n.*\n0\.98/);
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
    'planes have a colour each, what is on none is grey': {
        data: (folder) => writeDataset(folder, grid(80, (u, v) => [u * 10000, v * 10000, 0], (i) => ({ plane: Math.floor(i / 20) - 1 })), {
            ...ONE_NODE, attributes: [POSITION, { name: 'plane', type: 'int32', numElements: 1 }],
        }),
        query: 'color=plane',
        async run({ page }) {
            await page.evaluate(() => window.mote.setPointSize(4, false));
            await press(page, 't');
            const { colours, count } = await lit(page);
            const large = [...colours].filter(([, n]) => n > count / 8).map(([key]) => key);
            assert.equal(large.length, 4, [...colours.keys()].join(' '));
            assert.ok(large.includes('140,153,168'));
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
    'a colouring that there is not leaves the picture': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        query: 'color=nonsense',
        async run({ page }) {
            await page.getByText(/no colour mode "nonsense"; there are rgb, height/).waitFor();
            assert.ok(!(await page.locator('#splash').isVisible()));
            assert.ok((await lit(page)).count > 200);
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
    'the window may change its size and its pixels': {
        data: (folder) => writeDataset(folder, grid(40, (u, v) => [u * 10000, v * 10000, 0]), { ...ONE_NODE, attributes: [POSITION] }),
        async run({ page }) {
            await page.evaluate(() => {
                window.mote.setEyeDome(0);
                window.mote.setPointSize(2, false);
            });
            await press(page, 't');
            const session = await page.context().newCDPSession(page);
            const pixels = () => page.evaluate(() => {
                const c = document.getElementById('canvas');
                return [c.width / c.clientWidth, c.height / c.clientHeight].map((ratio) => Math.round(ratio * 100) / 100);
            });
            for (const deviceScaleFactor of [2, 1.5, 1]) {
                await session.send('Emulation.setDeviceMetricsOverride', { ...DESKTOP, deviceScaleFactor, mobile: false });
                await page.waitForTimeout(300);
                await press(page, 'f');
                assert.deepEqual(await pixels(), [deviceScaleFactor, deviceScaleFactor]);
            }
            const large = await lit(page);
            await page.setViewportSize({ width: 500, height: 400 });
            await page.locator('#panel-toggle').click();
            await press(page, 'f');
            assert.deepEqual(await pixels(), [1, 1]);
            const small = await lit(page);
            assert.ok(large.height > 500 && small.height > 300 && small.height < 400, `${large.height} and ${small.height} pixels high`);
        },
    },
};

const ALL_CHECKS = { ...CHECKS, ...LINK_CHECKS, ...COPC_CHECKS, ...FILTER_CHECKS, ...MEASURE_CHECKS, ...FEEL_CHECKS, ...FIGURE_CHECKS, ...MARKS_CHECKS, ...SAVE_CHECKS, ...MAPS_CHECKS, ...COLOUR_CHECKS, ...MOVING_CHECKS, ...VIEW_CHECKS, ...HOSTILE_CHECKS, ...CLOUD_CHECKS, ...LIVE_CHECKS };

// A check that serves for itself is alone({ mote, folder, out, openPage }). Any other: data(folder, mote) makes a data set and gives the path to serve where that is not the folder.
async function check(context, o, name, one) {
    if (!one.alone) return checkPage(context, o, one);
    const folder = mkdtempSync(join(tmpdir(), 'mote-by-hand-'));
    const open = async (url) => {
        const opened = await openPage(context, DESKTOP);
        await opened.page.goto(url);
        return opened;
    };
    return one.alone({ mote: o.mote, folder, out: o.out, openPage: open }).finally(() => rmSync(folder, { recursive: true, force: true }));
}

async function checkPage(context, o, { data, query = '', viewport = DESKTOP, isSite, noIdle, loud, before, run }) {
    const folder = mkdtempSync(join(tmpdir(), 'mote-by-hand-'));
    let server = null;
    let page = null;
    try {
        const served = data(folder, o.mote);
        const path = typeof served === 'string' ? served : folder;
        // mote view serves a data set alone; folders side by side are what a site on the web has.
        server = o.dist ? await startStatic(path, { dist: o.dist }) : await startServer(isSite ? null : o.mote, path);
        const opened = await openPage(context, viewport);
        page = opened.page;
        await before?.(page);
        await page.goto(withQuery(server.url, PLAIN, query));
        await page.addStyleTag({ content: BARE });
        if (!noIdle) await idle(page);
        await run({ page, url: server.url, out: o.out, folder, dist: o.dist ?? DIST, mote: o.mote, context, problems: opened.problems });
        if (!loud) assert.deepEqual(opened.problems, [], 'the console must stay quiet');
    } finally {
        await page?.close();
        closing.push(closeServer(server, folder));
    }
}

// A server waits up to 2 s for its connections; the next check does not.
const closing = [];
async function closeServer(server, folder) {
    await server?.close().finally(() => rmSync(folder, { recursive: true, force: true }));
}

const DIST = resolve(new URL('../../viewer/dist', import.meta.url).pathname);
const options = parseArguments(process.argv.slice(2));
if (!existsSync(join(options.dist ?? DIST, 'index.html'))) throw new Error('the page is not built: make viewer');
mkdirSync(options.out, { recursive: true });
const chosen = Object.entries(ALL_CHECKS).filter(([, { needsMote }]) => options.mote || !needsMote)
    .filter(([name]) => options.names.length === 0 || options.names.some((part) => name.includes(part)));
let failed = 0;
await withBrowser(async (context) => {
    for (const [name, one] of chosen) {
        const start = Date.now();
        try {
            await withTimeout(check(context, options, name, one), one.maxMs ?? MAX_CHECK_MS, name);
            console.log(`  ok    ${name} (${Date.now() - start} ms)`);
        } catch (error) {
            failed++;
            console.log(`  FAIL  ${name}: ${error?.message ?? error}`);
        }
    }
});
for (const result of await Promise.allSettled(closing)) {
    if (result.status !== 'rejected') continue;
    failed++;
    console.log(`  FAIL  closing a server: ${result.reason?.message ?? result.reason}`);
}
console.log(failed === 0 ? 'all well' : `${failed} failures`);
process.exit(failed === 0 ? 0 : 1);
