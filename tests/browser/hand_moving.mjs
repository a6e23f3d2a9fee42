// Moving: flying, the six sides, parallel projection, pictures as files, full screen.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle, stats } from './checks.mjs';
import { BARE, bare, differentPixels, grid, lit, middle, numbersIn, ONE_NODE, PHONE, pickedText, POSITION, press } from './hand.mjs';
import { readPng } from './png.mjs';
import { terrain, writeDataset } from '../viewer/make_dataset.mjs';

const eye = (page) => page.evaluate(() => {
    const { target, yaw, pitch, distance } = window.mote.camera;
    const forward = [-Math.cos(pitch) * Math.sin(yaw), Math.cos(pitch) * Math.cos(yaw), -Math.sin(pitch)];
    return { at: target.map((t, i) => t - forward[i] * distance), forward, distance };
});
const apart = (a, b) => Math.hypot(...a.map((c, i) => c - b[i]));
// How far the eye may move, in distances, when the camera is set to the numbers of the address: half of its step of 1e-5 in
// three coordinates, two angles and the distance, together 2.1e-5.
const ROUNDED = 2.2e-5;

// Two boards of 4 x 4 m, the second one 20 m behind the first and 6 m beside it.
const boards = (folder) => writeDataset(folder, [0, 1].flatMap((k) =>
    grid(60, (u, v) => [u * 4000 + k * 6000, k * 20000, v * 4000])).map((p, index) => ({ ...p, index })), { ...ONE_NODE, attributes: [POSITION], scale: [0.001, 0.001, 0.001], offset: [0, 0, 0] });

export const MOVING_CHECKS = {
    'flying: keys move the eye, dragging looks around, Escape ends': {
        data: (folder) => writeDataset(folder, terrain(6000), { grid: 32, leaf: 2000 }),
        async run({ page }) {
            await press(page, 'w');
            assert.equal(await page.locator('#fly').getAttribute('aria-pressed'), 'true');
            const start = await eye(page);
            await page.keyboard.down('w');
            await page.waitForTimeout(500);
            await page.keyboard.up('w');
            await idle(page);
            const ahead = await eye(page);
            const way = ahead.at.map((c, i) => c - start.at[i]);
            const length = Math.hypot(...way);
            assert.ok(length > 0, 'W moves');
            assert.ok(way.every((c, i) => Math.abs(c / length - start.forward[i]) < 1e-3), 'W moves where one looks');
            assert.equal(await page.locator('#overlay text').count(), 0);
            const [x, y] = await middle(page);
            await page.mouse.move(x, y);
            await page.mouse.down();
            await page.mouse.move(x + 120, y - 30, { steps: 3 });
            await page.mouse.up();
            const turned = await eye(page);
            assert.ok(apart(turned.at, ahead.at) < ROUNDED * ahead.distance && apart(turned.forward, ahead.forward) > 0.1, 'looking around leaves the eye in its place');
            await page.keyboard.down('e');
            await page.waitForTimeout(300);
            await page.keyboard.up('e');
            const up = await eye(page);
            assert.ok(up.at[2] > turned.at[2] && Math.abs(up.at[0] - turned.at[0]) < 1e-9, 'E moves up');
            await page.mouse.wheel(0, -400);
            assert.match(await page.locator('#said').innerText(), /^Speed [\d.]+ a second$/);
            await page.keyboard.press('Escape');
            await press(page, 'd'); // the tool again, and not to the right
            assert.equal(await page.locator('[data-tool=distance]').getAttribute('aria-pressed'), 'true');
            assert.ok(apart((await eye(page)).at, up.at) < ROUNDED * up.distance);
        },
    },
    'a drag turns around the point under the cursor, over the background around the centre': {
        data: (folder) => boards(folder),
        async run({ page }) {
            await page.evaluate(() => window.mote.setPointSize(4, 'fixed'));
            await idle(page);
            const drag = async (x, y) => {
                await page.mouse.move(x, y);
                await page.mouse.down();
                await page.mouse.move(x + 80, y + 25, { steps: 4 });
                await page.mouse.up();
                await idle(page);
            };
            const box = await page.locator('#canvas').boundingBox();
            const corner = [4, 0, 2]; // of the first board, away from the centre
            const seen = await page.evaluate((p) => window.mote.project(p), corner);
            const { yaw, target } = await page.evaluate(() => window.mote.camera);
            await drag(box.x + seen[0] - 3, box.y + seen[1]);
            const after = await page.evaluate((p) => window.mote.project(p), corner);
            const turned = await page.evaluate(() => window.mote.camera);
            assert.ok(Math.abs(turned.yaw - yaw) > 0.3, 'it turns');
            assert.ok(apart(after, seen) < 12, `the point went ${apart(after, seen)} pixels`);
            assert.ok(apart(turned.target, target) > 0.5, 'the centre does not stay');
            await drag(box.x + box.width - 20, box.y + box.height - 60);
            const again = await page.evaluate(() => window.mote.camera);
            assert.ok(Math.abs(again.yaw - turned.yaw) > 0.3 && apart(again.target, turned.target) < ROUNDED * again.distance);
        },
    },
    'the six sides, by keys and by buttons': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page }) {
            const looks = async (what, direction) => {
                await idle(page);
                assert.ok(apart((await eye(page)).forward, direction) < 1e-3, what);
                assert.ok((await lit(page)).count > 50, what);
            };
            for (const [key, direction] of [['t', [0, 0, -1]], ['Shift+T', [0, 0, 1]], ['s', [0, 1, 0]], ['Shift+N', [0, -1, 0]], ['Shift+W', [1, 0, 0]], ['Shift+E', [-1, 0, 0]]]) {
                await page.keyboard.press(key);
                await looks(key, direction);
            }
            await page.locator('#sides button', { hasText: 'north' }).click();
            await looks('the button', [0, -1, 0]);
        },
    },
    'in parallel projection what is farther is as large, and is picked': {
        data: boards,
        query: 'size=3&sizing=fixed&color=level',
        async run({ page }) {
            await press(page, 's');
            const widths = async () => {
                await page.evaluate(() => document.body.classList.add('bare'));
                const png = readPng(await page.locator('#canvas').screenshot());
                await page.evaluate(() => document.body.classList.remove('bare'));
                const columns = [...Array(png.width).keys()].map((x) => [...Array(png.height - 10).keys()].filter((y) => y > 5 && png.at(x, y)[1] > 60).length);
                const runs = [];
                columns.forEach((n, x) => x > 4 && x < png.width - 5 && n > 20 && (columns[x - 1] > 20 ? runs.at(-1).width++ : runs.push({ x, width: 1 })));
                return runs.filter(({ width }) => width > 20);
            };
            const seen = await widths();
            assert.equal(seen.length, 2);
            assert.ok(seen[0].width > seen[1].width * 1.2, JSON.stringify(seen));
            await press(page, 'o');
            assert.ok(await page.locator('#ortho').isChecked());
            await press(page, 'f');
            const parallel = await widths();
            assert.equal(parallel.length, 2);
            assert.ok(Math.abs(parallel[0].width - parallel[1].width) <= 2, JSON.stringify(parallel));
            // Ever nearer: the boards do not go behind the eye.
            const box = await page.locator('#canvas').boundingBox();
            const x = box.x + parallel[1].x + parallel[1].width / 2;
            await page.mouse.move(x, box.y + box.height / 2);
            for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -240);
            await page.waitForTimeout(100);
            await idle(page);
            assert.ok((await lit(page)).count > 500);
            await page.mouse.dblclick(x, box.y + box.height / 2);
            await idle(page);
            const [, y] = numbersIn((await pickedText(page)).replace('x y z', ''));
            assert.equal(y, 20);
            const link = await page.evaluate(() => window.mote.link());
            await idle(page);
            const before = await bare(page);
            await page.goto(link);
            await page.addStyleTag({ content: BARE });
            await idle(page);
            assert.equal(differentPixels(before, await bare(page)), 0);
        },
    },
    'a picture is saved in any size': {
        data: (folder) => writeDataset(folder, terrain(30000), { grid: 32, leaf: 2000 }),
        query: 'size=2',
        async run({ page, out }) {
            const points = (await stats(page)).pointsDrawn;
            await press(page, 'Shift+P');
            assert.equal(await page.locator('#picture-width').inputValue(), String(await page.evaluate(() => document.getElementById('canvas').width)));
            await page.locator('#picture-same').uncheck();
            await page.locator('#picture-width').fill('1500');
            await page.locator('#picture-height').fill('700');
            const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#picture button', { hasText: 'Save' }).click()]);
            const bytes = readFileSync(await download.path());
            writeFileSync(join(out, 'by-hand-picture.png'), bytes);
            const png = readPng(bytes);
            assert.deepEqual([png.width, png.height], [1500, 700]);
            let count = 0;
            for (let y = 0; y < 700; y += 3) for (let x = 0; x < 1500; x += 3) if (png.at(x, y).some((c) => c > 20)) count++;
            assert.ok(count > 500, `${count} of the pixels looked at are not background`);
            await idle(page);
            assert.deepEqual(await page.evaluate(() => [document.getElementById('canvas').width, document.getElementById('canvas').clientWidth]).then(([a, b]) => a === b), true);
            assert.equal((await stats(page)).pointsDrawn, points);
            await press(page, 'Shift+P');
            await page.locator('#picture button', { hasText: 'Cancel' }).click();
            assert.ok(!(await page.locator('#picture').isVisible()));
            await press(page, 'Shift+F');
            await page.waitForFunction(() => Boolean(document.fullscreenElement), null, { timeout: 5000 });
            await press(page, 'Shift+F');
        },
    },
    'on a phone all buttons are in view and do not lie on each other': {
        viewport: PHONE,
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page, out }) {
            const boxes = await page.locator('#toolbar button, #tools button, #panel-toggle').evaluateAll((buttons) => buttons.map((b) => b.getBoundingClientRect().toJSON()));
            for (const [i, a] of boxes.entries()) {
                assert.ok(a.left >= 0 && a.right <= PHONE.width && a.top >= 0 && a.bottom <= PHONE.height, JSON.stringify(a));
                for (const b of boxes.slice(i + 1)) assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, `${JSON.stringify(a)} ${JSON.stringify(b)}`);
            }
            await page.screenshot({ path: join(out, 'by-hand-phone-tools.png') });
        },
    },
};
