// Measuring as it feels: what a click would take is shown, drafts are kept, all goes by keyboard; cube, needle and scale bar.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from './checks.mjs';
import { grid, inTurn, ONE_NODE, PHONE, PLAIN, POSITION, press, withQuery } from './hand.mjs';
import { writeDataset } from '../viewer/make_dataset.mjs';
import de from '../../viewer/src/texts/de.js';
import en from '../../viewer/src/texts/en.js';

const ARROW = 18; // pixels of a list's arrow
const N = 101; // points along a side, 10 cm apart
const [EAST, NORTH] = [500000, 5400000];
// A slope of 10 m to the east, a metre up for four along.
const slope = (folder) => writeDataset(folder, grid(N, (u, v) => [u * 10000, v * 10000, u * 2500]), { ...ONE_NODE, scale: [0.001, 0.001, 0.001], offset: [EAST, NORTH, 100], projection: 'EPSG:25832+5783', attributes: [POSITION] });
const place = (x, y) => [EAST + x, NORTH + y, 100 + x / 4];

const figures = (page) => page.evaluate(() => window.mote.figures.at(-1)?.figures);
const points = (page) => page.evaluate(() => window.mote.marks.at(-1)?.points);
const near = (a, b, tolerance = 1e-6) => assert.ok(Math.abs(a - b) <= tolerance, `${a} instead of ${b}`);
const onPage = async (page, p) => {
    const box = await page.locator('#canvas').boundingBox();
    const at = await page.evaluate((q) => window.mote.project(q), p);
    return [box.x + at[0], box.y + at[1]];
};
async function click(page, ...places) {
    for (const p of places) await page.mouse.click(...(await onPage(page, p)));
}
async function fromAbove(page) {
    await page.addStyleTag({ content: '#legend { display: none; }' });
    await page.evaluate(() => window.mote.setPointSize(1.5, false));
    await press(page, 't');
}
const nextFrame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Boxes of things that are shown, which must not lie over each other.
async function overlaps(page, selectors) {
    return page.evaluate((list) => {
        const boxes = list.flatMap((s) => [...document.querySelectorAll(s)]).map((e) => ({ id: e.id || e.tagName, box: e.getBoundingClientRect() })).filter(({ box }) => box.width > 0 && box.height > 0);
        const out = [];
        boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
            const [w, h] = [Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)];
            if (w > 1 && h > 1) out.push(`${a.id} over ${b.id}`);
        }));
        return out;
    }, selectors);
}

// What lists have chosen, and does not fit.
const cutTexts = (page) => page.evaluate((arrow) => {
    const g = document.createElement('canvas').getContext('2d');
    return [...document.querySelectorAll('#panel select')].filter((e) => e.clientWidth > 0).flatMap((e) => {
        const { font, paddingLeft } = getComputedStyle(e);
        g.font = font;
        const text = e.selectedOptions[0]?.text ?? '';
        return g.measureText(text).width > e.clientWidth - parseFloat(paddingLeft) - arrow ? [text] : [];
    });
}, ARROW);

export const FEEL_CHECKS = {
    'a rubber band goes to the point that a click would take, with length, slope and bearing': {
        data: slope,
        async run({ page, out }) {
            await fromAbove(page);
            await press(page, 'd');
            await click(page, place(2, 2));
            await page.mouse.move(...(await onPage(page, place(6, 5))));
            await nextFrame(page);
            assert.equal(await page.locator('#overlay .snap').count(), 1);
            assert.equal(await page.locator('#overlay line.band').count(), 1);
            assert.match(await page.locator('#overlay text').first().textContent(), /^5\.099\sm · 20\.0 % \(11\.31°\) · 53\.13°$/);
            await page.screenshot({ path: join(out, 'by-hand-band.png') });
            await click(page, place(6, 5), place(6, 9));
            const [x, y] = await onPage(page, place(8, 9));
            await page.mouse.click(x, y);
            await page.mouse.click(x, y, { button: 'right' });
            const { length, level, rise, ...each } = await figures(page);
            near(level, 5 + 4 + 2);
            near(rise, 1.5);
            near(length, Math.hypot(5, 1) + 4 + Math.hypot(2, 0.5));
            assert.deepEqual(Object.keys(each), ['segment 1', 'segment 2', 'segment 3']);
            near(each['segment 1'].bearing, (Math.atan2(4, 3) * 180) / Math.PI);
            near(each['segment 2'].slope, 0);
            near(each['segment 3'].bearing, 90);
            assert.equal(await page.locator('#overlay line.band').count(), 0);
            await page.mouse.click(x, y, { button: 'right' }); // nothing was begun: the tool is put down
            assert.ok(!(await page.locator('#draft').isVisible()));
            await page.mouse.move(x + 40, y + 40);
            await nextFrame(page);
            assert.equal(await page.locator('#overlay .snap').count(), 0);
        },
    },
    'a circle through three points, and heights over a plane of three points and over one that was found': {
        data: slope,
        async run({ page }) {
            await fromAbove(page);
            await press(page, 'Shift+O');
            await click(page, place(5, 2), place(5, 8), place(2, 5));
            const round = await figures(page);
            // In the plane of the slope: half axes of the level ellipse are of the circle's own lengths.
            const q = Math.hypot(1, 0.25);
            const [a, b] = [3, 3 * q]; // half of the chord northwards, and the sagitta along the slope
            near(round.radius, (a * a + b * b) / (2 * b), 1e-6);
            near(round.diameter, 2 * round.radius);
            assert.match(round.centre, /^50000\d\.\d{3}\u00a0m, 5400005\.000\u00a0m, 10\d\.\d{3}\u00a0m$/);
            // In a drawing it is round.
            await page.keyboard.press('Escape');
            await page.locator('#marks-format').selectOption('dxf');
            const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#marks-save').click()]);
            const pairs = readFileSync(await download.path(), 'latin1').split('\r\n').map((line) => line.trim());
            const corners = pairs.flatMap((word, i) => (word === 'VERTEX' ? [[10, 20, 30].map((code) => Number(pairs[pairs.indexOf(String(code), i) + 1]))] : []));
            const centre = round.centre.split(', ').map(parseFloat);
            assert.ok(corners.length >= 60, `${corners.length} corners`);
            for (const p of corners) near(Math.hypot(...p.map((c, i) => c - centre[i])), round.radius, 2e-3);
            await press(page, 'Shift+Y');
            await click(page, place(1, 1), place(9, 1), place(5, 9), place(5, 5));
            near((await figures(page))['over plane'], 0, 1e-6);
            near((await figures(page)).tilt, (Math.atan(0.25) * 180) / Math.PI, 1e-6);
            await page.keyboard.press('Escape');
            // A plane as `mote planes` tells it: level, at 100.
            const plane = { planes: [{ normal: [0, 0, 1], offset: 100, rms: 0, inliers: 4, boundary: [[EAST, NORTH, 100], [EAST + 10, NORTH, 100], [EAST + 10, NORTH + 10, 100]] }] };
            await page.locator('#marks-file').setInputFiles({ name: 'planes.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(plane)) });
            await page.locator('.mark-row.plane button', { hasText: 'Height over it' }).click();
            await click(page, place(8, 4));
            const over = await figures(page);
            near(over['over plane'], 2, 1e-6);
            near(over.plumb, 2, 1e-6);
        },
    },
    ...Object.fromEntries([['wide', undefined], ['390 wide', PHONE]].map(([what, viewport]) => [`labels lie under no button, ${what}`, {
        data: slope,
        ...(viewport ? { viewport } : {}),
        async run({ page }) {
            await fromAbove(page);
            // The camera goes so near that the marks are at the left and at the top, under the buttons.
            const names = Array.from({ length: 40 }, (_, i) => ({ type: 'Feature', properties: { kind: 'note', text: `note ${i}` }, geometry: { type: 'Point', coordinates: place((i % 8) * 0.6, 10 - Math.floor(i / 8) * 0.6) } }));
            await page.locator('#marks-file').setInputFiles({ name: 'notes.geojson', mimeType: '', buffer: Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: names })) });
            await page.waitForFunction(() => window.mote.marks.length === 40);
            let seen = 0;
            for (const [x, y] of [[2.5, 8], [3.5, 7], [1, 8.5]]) {
                await page.evaluate((target) => (window.mote.camera = { target, distance: 7 }), place(x, y));
                await idle(page);
                seen += await page.locator('#overlay text').count();
                // What the status line says may still change; labels make room for it in the next frame.
                let over;
                for (let tries = 0; tries < 10 && over?.length !== 0; tries++) {
                    await nextFrame(page);
                    over = (await overlaps(page, ['#overlay text', '#toolbar button', '#tools button', '#cube', '#status'])).filter((pair) => /text/i.test(pair));
                }
                assert.deepEqual(over, [], `${x}, ${y}`);
            }
            assert.ok(seen > 20, `${seen} labels`);
        },
    }])),
    'points of a profile are seen on the page, dark ones in the dark and light ones in the light': {
        data: (folder) => writeDataset(folder, grid(N, (u, v) => [u * 10000, v * 10000, u * 2500], (i) => ({ rgb: i % 2 ? [0, 0, 0] : [65535, 65535, 65535] })), { ...ONE_NODE, scale: [0.001, 0.001, 0.001], offset: [EAST, NORTH, 100], projection: 'EPSG:25832' }),
        async run({ page, url }) {
            const mark = `profile;w0.5;${[place(2, 5), place(8, 5)].map((p) => p.join()).join(';')}`;
            for (const theme of ['dark', 'light']) {
                await page.goto(withQuery(url, PLAIN, `color=rgb&theme=${theme}&mark=${encodeURIComponent(mark)}`));
                await idle(page);
                await page.getByText('Show profile').click();
                await page.waitForFunction(() => document.querySelector('#profile-count').textContent !== '' && !document.querySelector('#profile-csv').disabled);
                const [least, background, count] = await page.evaluate(() => {
                    const canvas = document.querySelector('#profile-canvas');
                    const { data } = canvas.getContext('2d').getImageData(canvas.width / 3, 0, canvas.width / 3, canvas.height - 40);
                    const behind = Number(/\d+/.exec(getComputedStyle(document.querySelector('#profile')).backgroundColor)[0]);
                    const away = [];
                    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255 && data[i] === data[i + 1]) away.push(Math.abs(data[i] - behind));
                    return [Math.min(...away), behind, away.length];
                });
                assert.ok(count > 50 && least > 45, `${theme}: ${least} of 255 from ${background}, ${count} pixels`);
            }
        },
    },
    'Done, Undo and Cancel are buttons of 44 pixels on a phone; nothing lies over them or the tools': {
        data: slope,
        viewport: PHONE,
        query: 'theme=dark',
        async run({ page, out }) {
            await fromAbove(page);
            await page.locator('[data-tool=area]').click();
            await click(page, place(3, 3), place(7, 3), place(7, 7), place(5, 9));
            assert.match(await page.locator('#draft').innerText(), /^Points: 4/);
            for (const button of await page.locator('#draft button').all()) {
                const { width, height } = await button.boundingBox();
                assert.ok(width >= 44 && height >= 44, `${width} x ${height}`);
            }
            assert.deepEqual(await overlaps(page, ['#draft', '#tools button', '#toolbar button', '#said', '#status', '#legend', '#cube', '#panel-toggle']), []);
            await page.screenshot({ path: join(out, 'by-hand-draft-phone.png') });
            await page.locator('#draft button', { hasText: 'Undo' }).click();
            await page.locator('#draft button', { hasText: 'Done' }).click();
            near((await figures(page))['seen from above'], 8, 1e-6);
            await page.locator('#draft button', { hasText: 'Cancel' }).click();
            assert.ok(!(await page.locator('#draft').isVisible()));
        },
    },
    'where fingers alone are, tools say what fingers do; what a point has makes way for the next tool': {
        data: slope,
        viewport: PHONE,
        before: (page) => page.addInitScript(() => {
            const { matchMedia } = window;
            window.matchMedia = (query) => (query === '(pointer: fine)' ? { matches: false } : matchMedia.call(window, query));
        }),
        async run({ page }) {
            await fromAbove(page);
            await page.locator('[data-tool=distance]').click();
            assert.equal(await page.locator('#said').innerText(), 'Click points. Done ends.');
            await page.locator('[data-tool=point]').click();
            await click(page, place(5, 5));
            await page.locator('#card').waitFor();
            await idle(page);
            assert.deepEqual(await overlaps(page, ['#card', '#draft', '#tools button', '#said', '#status', '#panel-toggle']), []);
            await click(page, place(5, 6)); // the middle of the picture is free for the next point
            assert.equal(await page.evaluate(() => window.mote.marks.length), 2);
            await page.locator('[data-tool=note]').click();
            assert.ok(!(await page.locator('#card').isVisible()));
            for (let y = 1; y < 10; y += 2) await click(page, place(5, y));
            assert.equal(await page.evaluate(() => window.mote.marks.filter(({ kind }) => kind === 'note').length), 5);
        },
    },
    'another tool takes the draft over, or leaves it for later': {
        data: slope,
        async run({ page }) {
            await fromAbove(page);
            await press(page, 'q');
            await click(page, place(2, 2), place(8, 2), place(8, 8));
            await press(page, 'k'); // a volume of the same corners
            await page.keyboard.press('Enter');
            const [{ kind, points: corners }] = await page.evaluate(() => window.mote.marks);
            assert.deepEqual([kind, corners.length], ['volume', 3]);
            await press(page, 'd');
            await click(page, place(1, 1), place(3, 1));
            await press(page, 'i'); // takes one point alone: the draft waits
            await click(page, place(5, 5));
            await page.locator('#card-close').click();
            await press(page, 'd');
            assert.match(await page.locator('#draft').innerText(), /^Points: 2/);
            await click(page, place(3, 4));
            await page.keyboard.press('Enter');
            near((await figures(page)).level, 2 + 3);
            await page.keyboard.press('Escape');
            await press(page, 'd');
            assert.match(await page.locator('#draft').innerText(), /^Points: 0/, 'Escape ends without');
        },
    },
    'all is measured by keyboard alone': {
        data: slope,
        async run({ page }) {
            await press(page, 't');
            for (const [key, count, kind] of [['d', 2, 'distance'], ['y', 2, 'height'], ['g', 3, 'angle'], ['q', 3, 'area'], ['k', 3, 'volume'], ['Shift+O', 3, 'circle'], ['Shift+Y', 4, 'over']]) {
                await press(page, key);
                for (let i = 0; i < count; i++) {
                    await page.keyboard.press(['Shift+ArrowLeft', 'Shift+ArrowUp', 'Shift+ArrowRight', 'Shift+ArrowRight'][i]);
                    await idle(page);
                    await page.keyboard.press('Space');
                }
                await page.keyboard.press('Enter');
                const mark = await page.evaluate(() => window.mote.marks.at(-1));
                assert.deepEqual([mark.kind, mark.points.length], [kind, count]);
                await page.keyboard.press('Escape');
                await press(page, 't');
            }
            await press(page, 'i');
            await page.keyboard.press('Space');
            await page.keyboard.press('Escape');
            await press(page, 'n');
            for (const key of ['ArrowLeft', 'ArrowRight']) {
                for (let i = 0; i < 4; i++) await page.keyboard.press(`Shift+${key}`);
                await idle(page);
                await page.keyboard.press('Space');
            }
            await page.keyboard.press('Enter');
            await page.locator('#profile').waitFor();
            await page.locator('#canvas').focus();
            await page.keyboard.press('Escape');
            await press(page, 'j');
            await page.keyboard.press('Space');
            await page.keyboard.type('by hand');
            await page.keyboard.press('Enter');
            const last = await page.evaluate(() => window.mote.marks.slice(-3));
            assert.deepEqual(last.map(({ kind }) => kind), ['point', 'profile', 'note']);
            assert.equal(last[2].text, 'by hand');
        },
    },
    'points of a profile are measured in its plot, by mouse and by keyboard': {
        data: slope,
        async run({ page, url, out }) {
            const mark = ['profile', 'w0.05', place(1, 5), place(9, 5)].map((p) => (Array.isArray(p) ? p.join() : p)).join(';');
            await page.goto(withQuery(url, PLAIN, `mark=${encodeURIComponent(mark)}`));
            await idle(page);
            await page.getByText('Show profile').click();
            await page.waitForFunction(() => !document.querySelector('#profile-las').disabled);
            const box = await page.locator('#profile-canvas').boundingBox();
            // The plot's inner part is from 68 pixels on the left to 12 on the right.
            const at = (share) => [box.x + 68 + (box.width - 80) * share, box.y + 10 + (box.height - 36) * (1 - (share * 1.0 * 2 + 0.1) / 2.2)];
            await page.mouse.click(...at(0.25));
            await page.mouse.move(...at(0.75));
            await nextFrame(page);
            assert.equal(await page.locator('#profile-marks .snap').count(), 1);
            assert.equal(await page.locator('#overlay .snap').count(), 1, 'in the picture, too');
            await page.mouse.click(...at(0.75));
            await page.screenshot({ path: join(out, 'by-hand-in-profile.png') });
            await page.keyboard.press('Enter');
            const clicked = await figures(page);
            near(clicked.level, 4, 0.11);
            near(clicked.rise / clicked.level, 0.25, 1e-9);
            assert.ok((await page.locator('#profile-marks line').count()) > 0, 'the mark is drawn in the plot');
            await page.keyboard.press('Escape');
            await page.locator('#profile-canvas').focus();
            await page.keyboard.press('ArrowLeft');
            await page.keyboard.press('Space');
            for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowRight');
            await page.keyboard.press('Space');
            await page.keyboard.press('Enter');
            const [a, b] = await points(page);
            assert.ok(b[0] > a[0] && Math.abs(a[1] - NORTH - 5) < 0.03 && Math.abs(b[1] - NORTH - 5) < 0.03);
        },
    },
    'the cube looks from a side by mouse and keyboard; the needle points north; the bar is as long as it says': {
        data: slope,
        async run({ page, out }) {
            const camera = () => page.evaluate(() => window.mote.camera);
            await page.locator('#cube [aria-label="From above"]').click();
            await idle(page);
            near((await camera()).pitch, Math.PI / 2, 1e-3);
            const bar = async () => {
                const [[a], [b]] = [await onPage(page, place(0, 0)), await onPage(page, place(1, 0))];
                const { width } = await page.locator('#s-scale i').boundingBox();
                const [, length] = /^([\d.]+)\sm$/.exec(await page.locator('#s-scale span').innerText());
                return { width, pixels: Number(length) * (b - a) };
            };
            await press(page, 'o');
            await page.evaluate(() => (window.mote.camera = { yaw: 0 }));
            await idle(page);
            const { width, pixels } = await bar();
            assert.ok(Math.abs(width - pixels) < 2 && width > 40, `${width} pixels, ${pixels} of the picture`);
            await page.evaluate(() => window.mote.setUnits('ft'));
            assert.match(await page.locator('#s-scale span').innerText(), /^\d+\sft$/);
            await page.evaluate(() => (window.mote.camera = { yaw: -1.2, pitch: 0.5 }));
            await idle(page);
            await page.locator('#cube').screenshot({ path: join(out, 'by-hand-cube.png') });
            await page.locator('#cube [aria-label="From the south"]').focus();
            await page.keyboard.press('Enter');
            await idle(page);
            near((await camera()).pitch, 0, 1e-3);
            near((await camera()).yaw, 0, 1e-3);
            await page.evaluate(() => (window.mote.camera = { yaw: Math.PI / 2, pitch: 0.5 })); // looking west: north is to the right
            await idle(page);
            const [[cx, cy], [nx, ny]] = await page.evaluate(() => [...document.querySelectorAll('#cube .needle path')].map((e) => {
                const { x, y, width, height } = e.getBoundingClientRect();
                return [x + width / 2, y + height / 2];
            }).reverse());
            assert.ok(nx > cx + 5 && Math.abs(ny - cy) < 2, `${nx - cx}, ${ny - cy}`);
            await page.evaluate(() => window.mote.setUp('y'));
            await idle(page);
            assert.equal(await page.locator('#cube .needle').getAttribute('visibility'), 'hidden');
        },
    },
    'a file of another reference system that has no code is taken as it is, and that is said': {
        data: slope,
        async run({ page }) {
            const file = { type: 'FeatureCollection', crs: { type: 'name', properties: { name: 'LOCAL_CS["the yard",UNIT["metre",1]]' } }, features: [{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: place(2, 2) } }] };
            await page.locator('#marks-file').setInputFiles({ name: 'yard.geojson', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(file)) });
            await page.getByText(/yard\.geojson: its reference system is the yard, that of the data set .*taken as they are/).waitFor();
            assert.deepEqual(await points(page), [place(2, 2)]);
        },
    },
    'German where the browser asks for it, in all that is on the page; the switch is kept': {
        data: slope,
        async run({ page, url, out }) {
            await page.addInitScript(() => Object.defineProperty(navigator, 'languages', { get: () => ['de-AT', 'en'] }));
            await page.goto(withQuery(url, PLAIN));
            await idle(page);
            assert.equal(await page.locator('html').getAttribute('lang'), 'de');
            const english = new Set(Object.keys(en).filter((key) => en[key] !== de[key]).map((key) => en[key]).filter((text) => !Object.values(de).includes(text)));
            const said = await page.evaluate(() => [...document.querySelectorAll('body *')].flatMap((e) => [
                ...[...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()), e.title, e.getAttribute('aria-label'), e.placeholder,
            ]).filter((text) => typeof text === 'string' && text !== ''));
            assert.ok(said.length > 150, `${said.length} texts`);
            assert.deepEqual(said.filter((text) => english.has(text)), []);
            // German words are longer: they fit where they stand.
            await page.evaluate(() => window.mote.setColorMode('height'));
            const cut = () => page.evaluate(() => [...document.querySelectorAll('#panel, #panel button, #panel .pair, #panel .row, #draft button, #tools button')].filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map((e) => e.id || e.textContent));
            assert.deepEqual(await cut(), []);
            await page.keyboard.press('h');
            await page.screenshot({ path: join(out, 'by-hand-german-help.png') });
            await page.keyboard.press('Escape');
            await page.locator('#language').selectOption('en');
            await page.waitForFunction(() => document.documentElement.lang === 'en' && window.mote?.stats?.().pointsDrawn > 0);
            assert.equal(await page.locator('#h-colour').innerText(), 'COLOUR');
            await page.goto(withQuery(url, PLAIN)); // kept
            await idle(page);
            assert.equal(await page.locator('html').getAttribute('lang'), 'en');
        },
    },
    ...Object.fromEntries(inTurn([['390 wide', PHONE], ['900 x 480', { width: 900, height: 480 }]], 2).map(([what, viewport]) => [`nothing covers what is being done, ${what}, in both languages`, {
        data: slope,
        viewport,
        async run({ page, url, out }) {
            for (const language of ['en', 'de']) {
                await page.evaluate((l) => localStorage.setItem('mote.language', l), language);
                await page.goto(withQuery(url, PLAIN));
                await idle(page);
                if (viewport.width === 900) await page.locator('#panel-toggle').click(); // as wide as the picture can be
                const over = ['#draft', '#tools button', '#toolbar button', '#said', '#status', '#cube', '#panel-toggle', '#legend'];
                assert.deepEqual(await overlaps(page, over), [], language);
                for (const kind of ['distance', 'over', 'area']) {
                    await page.locator(`[data-tool=${kind}]`).click();
                    await idle(page);
                    assert.deepEqual(await overlaps(page, over), [], `${language} ${kind}`);
                    const free = await page.evaluate(() => {
                        const { width, height } = document.querySelector('#canvas').getBoundingClientRect();
                        const hits = [];
                        for (let i = 1; i < 10; i++) for (let j = 1; j < 10; j++) hits.push(document.elementFromPoint((width * i) / 10, (height * j) / 10)?.closest('#canvas, #overlay') !== null);
                        return hits.filter(Boolean).length / hits.length;
                    });
                    assert.ok(free > 0.6, `${language} ${kind}: ${free} of the picture is free`);
                }
                await page.screenshot({ path: join(out, `by-hand-small-${viewport.width}-${language}.png`) });
                await page.keyboard.press('Escape');
                assert.ok(!(await page.locator('#said').isVisible()), 'how a tool is used is said no longer than it is chosen');
                await page.keyboard.press('Escape');
                // What is told of a wrong file can be put away, also where the cube is.
                await page.locator('#marks-file').setInputFiles({ name: 'wrong.geojson', mimeType: 'application/json', buffer: Buffer.from('{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": {"type": "Circle"}}]}') });
                await page.locator('#messages button').first().click({ timeout: 4000 });
                const mark = `profile;w0.5;${[[EAST + 2, NORTH + 5, 100], [EAST + 18, NORTH + 5, 100]].map((p) => p.join()).join(';')}`;
                await page.goto(withQuery(url, PLAIN, `mark=${encodeURIComponent(mark)}`));
                await idle(page);
                if (viewport.width === 900) await page.locator('#panel-toggle').click();
                await page.evaluate(() => [...document.querySelectorAll('#marks button')].at(-1).click());
                await page.locator('#profile').waitFor({ timeout: 4000 });
                assert.deepEqual(await overlaps(page, [...over, '#profile']), [], `${language}: a profile`);
                await page.keyboard.press('n');
                await idle(page);
                assert.deepEqual(await overlaps(page, [...over, '#profile']), [], `${language}: another profile`);
                await page.keyboard.press('Escape');
                if (viewport.width === 900) await page.locator('#panel-toggle').click();
                await page.locator('#view-link').evaluate((e) => e.click());
                await page.locator('#said').waitFor();
                assert.deepEqual(await overlaps(page, [...over, '#profile'].filter((s) => viewport.width === 900 || s !== '#panel-toggle')), [], `${language}: what is said beside a profile and the panel`);
                if (viewport.width === 900) assert.deepEqual(await cutTexts(page), [], language);
                await page.evaluate(() => window.mote.setFilter('height', [-9e3, -8e3]));
                await page.locator('#hint button').click({ timeout: 4000 });
            }
            await page.evaluate(() => localStorage.removeItem('mote.language'));
        },
    }])),
};
