// Moving about: wheel, keys, fingers, windows; what is in view.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { idle } from './checks.mjs';
import { bluePixels, grid, lit, middle, ONE_NODE, PHONE, pickedText, plain, POSITION, press, DESKTOP, BARE, PLAIN, seenByCamera, withQuery } from './hand.mjs';
import { terrain, writeDataset } from '../viewer/make_dataset.mjs';

export const NAVIGATION_CHECKS = {
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
    'what a depth camera saw is shown from where it stood': {
        data: (folder) => writeDataset(folder, grid(120, (u, v) => seenByCamera(u, v)), { ...ONE_NODE, attributes: [POSITION] }),
        async run({ page }) {
            assert.equal(await page.locator('#up').inputValue(), '-y');
            const { yaw, pitch } = await page.evaluate(() => window.mote.camera);
            assert.deepEqual([yaw, pitch], [0, 0]);
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
