// A link shows what its sender saw; what a person set is there again after a reload.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPng } from './png.mjs';
import { idle } from './checks.mjs';
import { BARE, bare, differentPixels, middle, ONE_NODE, press } from './hand.mjs';
import { quads, terrain, writeDataset } from '../viewer/make_dataset.mjs';

const TREE = { grid: 32, leaf: 2000, offset: [500000.25, 5400000.5, 300] };

// Turned, moved, zoomed by hand, and nothing of it in round numbers.
async function moveAbout(page) {
    const [x, y] = await middle(page);
    await page.mouse.move(x - 60, y + 40);
    await page.mouse.wheel(0, -310);
    await page.mouse.down();
    await page.mouse.move(x + 71, y + 33, { steps: 4 });
    await page.mouse.up();
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(x - 23, y - 41, { steps: 4 });
    await page.mouse.up({ button: 'right' });
    await idle(page);
}

const written = (page) => page.waitForFunction(() => location.href === window.mote.link(), null, { timeout: 10000 });

export const LINK_CHECKS = {
    'the address shows the same picture pixel for pixel': {
        data: (folder) => writeDataset(folder, terrain(30000), TREE),
        query: 'edl=0.7',
        async run({ page, context, out }) {
            await moveAbout(page);
            await page.locator('#mode').selectOption('height');
            await page.locator('#ramp').selectOption('magma');
            await page.locator('#low').fill('300.5');
            await page.keyboard.press('Enter');
            await page.locator('#classes input').nth(1).click();
            await page.locator('#size').fill('1.7');
            await page.locator('#box').click();
            await press(page, 'PageUp');
            await written(page);
            await idle(page);
            const link = page.url();
            const seen = await bare(page);
            const other = await context.newPage();
            await other.setViewportSize(page.viewportSize());
            await other.goto(link);
            await other.addStyleTag({ content: BARE });
            await idle(other);
            assert.equal(differentPixels(seen, await bare(other)), 0, link);
            assert.equal(await other.locator('#low').inputValue(), '300.5');
            assert.equal(await other.locator('#ramp').inputValue(), 'magma');
            await other.reload(); // the same page once more, as after a restart of the browser
            await idle(other);
            assert.equal(other.url(), link);
            await other.screenshot({ path: join(out, 'by-hand-link.png') });
            await other.close();
        },
    },
    'settings are kept for the next visit, and a link overrules them': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page, url }) {
            const link = await page.evaluate(() => window.mote.link());
            await page.locator('#size').fill('2.5');
            await page.locator('#background').selectOption('sky');
            await page.locator('#theme').selectOption('light');
            await page.goto(url); // no setting in the address
            await idle(page);
            assert.equal(await page.locator('#size').inputValue(), '2.5');
            assert.equal(await page.locator('#background').inputValue(), 'sky');
            assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'light');
            await page.goto(link);
            await idle(page);
            assert.equal(await page.locator('#size').inputValue(), '1');
            assert.equal(await page.locator('#background').inputValue(), 'black');
        },
    },
    'views are saved, named, shown by a key and kept': {
        data: (folder) => writeDataset(folder, quads(60), ONE_NODE),
        async run({ page, out }) {
            const camera = () => page.evaluate(() => window.mote.camera);
            await press(page, 't');
            await page.locator('#mode').selectOption('classification');
            await press(page, 'm');
            const first = await camera();
            await moveAbout(page);
            await page.locator('#mode').selectOption('height');
            await page.locator('#view-save').click();
            const second = await camera();
            await page.locator('#views input').nth(1).fill('<b>The slope</b>');
            await page.keyboard.press('Enter');
            await press(page, '1');
            assert.deepEqual(await camera(), first);
            assert.equal(await page.locator('#mode').inputValue(), 'classification');
            await page.reload();
            await idle(page);
            await page.locator('#views button', { hasText: '2' }).click();
            await idle(page);
            assert.deepEqual(await camera(), second);
            assert.equal(await page.locator('#mode').inputValue(), 'height');
            assert.equal(await page.locator('#views input').nth(1).inputValue(), '<b>The slope</b>');
            await page.locator('#views').scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(out, 'by-hand-views.png') });
            await page.locator('#views button.remove').first().click();
            assert.equal(await page.locator('#views li').count(), 1);
        },
    },
    'a tour through saved views is played and saved as pictures': {
        viewport: { width: 400, height: 320 },
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page, out }) {
            await press(page, 't');
            await press(page, 'm');
            await press(page, 's');
            await press(page, 'm');
            const last = await page.evaluate(() => window.mote.camera);
            await page.locator('#panel-toggle').click();
            await page.locator('#tour-play').click();
            await page.waitForFunction(() => window.mote.camera.pitch > 0.2 && window.mote.camera.pitch < 1.4, null, { timeout: 5000 });
            await page.waitForFunction(() => document.getElementById('tour-play').textContent === 'Play tour', null, { timeout: 10000 });
            await idle(page);
            const there = await page.evaluate(() => window.mote.camera);
            assert.ok(Math.abs(there.pitch - last.pitch) < 1e-3 && Math.abs(there.distance / last.distance - 1) < 1e-3);
            const [download] = await Promise.all([page.waitForEvent('download', { timeout: 60000 }), page.evaluate(() => window.mote.saveTour(4))]);
            const path = await download.path();
            execFileSync('python3', ['-c', 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])', path, join(out, 'tour')]);
            const names = readdirSync(join(out, 'tour')).sort();
            assert.deepEqual(names, [1, 2, 3, 4, 5].map((i) => `frame-0000${i}.png`));
            const sizes = new Set(names.map((name) => readPng(readFileSync(join(out, 'tour', name))).width));
            assert.equal(sizes.size, 1);
            assert.ok(!readFileSync(join(out, 'tour', names[0])).equals(readFileSync(join(out, 'tour', names[2]))), 'the camera moves');
        },
    },
    'an address with nonsense in it still shows the cloud': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        query: 'cam=1,2,x,NaN&range=a,b&budget=&edl=much&ramp=none&theme=pink&hide=x&up=w',
        async run({ page }) {
            assert.ok((await page.evaluate(() => window.mote.stats())).pointsDrawn > 0);
        },
    },
};
