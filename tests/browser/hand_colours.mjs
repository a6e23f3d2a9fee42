// Colours as they are computed: tone, normals, the mean of close points, sizes of points.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { idle } from './checks.mjs';
import { grid, lit, middle, ONE_NODE, POSITION, press } from './hand.mjs';
import { DEFAULT_ATTRIBUTES, writeDataset } from '../viewer/make_dataset.mjs';

const RGB = DEFAULT_ATTRIBUTES.find((a) => a.name === 'rgb');
const FLAT = { ...ONE_NODE, scale: [0.001, 0.001, 0.001], offset: [0, 0, 0] };
const number = (name, type) => ({ name, type, numElements: 1 });
const close = (text, wanted, tolerance = 1) => text.split(',').every((c, i) => Math.abs(Number(c) - wanted[i]) <= tolerance);

// The colour of most pixels that are lit.
async function mainColour(page) {
    await idle(page);
    const { colours } = await lit(page);
    return [...colours].sort((a, b) => b[1] - a[1])[0][0];
}

export const COLOUR_CHECKS = {
    'brightness, contrast and gamma change colours as they say': {
        data: (folder) => writeDataset(folder, grid(120, (u, v) => [u * 10000, v * 10000, 0]).map((p) => ({ ...p, rgb: [100 * 257, 40 * 257, 180 * 257] })), { ...FLAT, attributes: [POSITION, RGB] }),
        query: 'size=3&sizing=fixed&color=rgb',
        async run({ page }) {
            await press(page, 't');
            const plain = await mainColour(page);
            assert.ok(close(plain, [100, 40, 180]), plain);
            await page.locator('#tone-settings summary').click();
            await page.locator('#gamma').fill('2');
            await page.locator('#contrast').fill('0.5');
            await page.locator('#brightness').fill('-0.1');
            const wanted = [100, 40, 180].map((c) => 255 * Math.max(0, Math.min(1, (Math.sqrt(c / 255) - 0.5) * 1.5 + 0.4)));
            const seen = await mainColour(page);
            assert.ok(close(seen, wanted, 1.5), `${seen} instead of ${wanted}`);
            await page.locator('#tone-reset').click();
            assert.ok(close(await mainColour(page), [100, 40, 180]));
        },
    },
    'colours of 12 bits are drawn brighter, or as they are': {
        data: (folder) => writeDataset(folder, grid(120, (u, v) => [u * 10000, v * 10000, 0]).map((p) => ({ ...p, rgb: [4000, 1000, 2000] })), { ...FLAT, attributes: [POSITION, RGB] }),
        query: 'size=3&sizing=fixed&color=rgb',
        async run({ page }) {
            await press(page, 't');
            const bright = await mainColour(page);
            assert.ok(close(bright, [204, 51, 102]), bright);
            assert.match(await page.locator('#exposure-row').innerText(), /13\.11 times brighter/);
            await page.locator('#exposure').uncheck();
            const dark = await mainColour(page);
            assert.ok(close(dark, [15, 3, 7]), dark);
            await page.waitForFunction(() => /exposure=0/.test(location.search));
            await page.reload();
            assert.ok(close(await mainColour(page), [15, 3, 7]), 'the link keeps it');
            await page.locator('#exposure').check();
            assert.ok(close(await mainColour(page), [204, 51, 102]));
            await page.locator('#mode').selectOption('height');
            assert.ok(await page.locator('#exposure-row').isHidden());
        },
    },
    'normals have a colour each, and what has none is grey': {
        data: (folder) => writeDataset(folder, grid(120, (u, v) => [u * 10000, v * 10000, 0], (i) => ({ NormalX: 0, NormalY: i < 100 ? -0.6 : 0, NormalZ: i < 100 ? 0.8 : 0 })), {
            ...FLAT, attributes: [POSITION, number('NormalX', 'float'), number('NormalY', 'float'), number('NormalZ', 'float')],
        }),
        query: 'size=3&sizing=fixed&color=normal',
        async run({ page }) {
            await press(page, 't');
            const seen = await mainColour(page);
            assert.ok(close(seen, [127.5, 51, 229.5]), seen);
            assert.ok((await lit(page)).colours.get('140,153,168') > 200, 'no grey');
            assert.match(await page.locator('#legend').innerText(), /Normal\nto \+x/);
        },
    },
    'close points are averaged, those far behind are not': {
        // Blue 1 mm above red, at the same places; green 5 m below.
        data: (folder) => writeDataset(folder, [[1, [65535, 0, 0]], [2, [0, 0, 65535]], [-5000, [0, 65535, 0]]].flatMap(([z, rgb]) =>
            grid(100, (u, v) => [u * 10000, v * 10000, z]).map((p) => ({ ...p, rgb }))).map((p, index) => ({ ...p, index })), { ...FLAT, attributes: [POSITION, RGB] }),
        query: 'size=5&sizing=fixed',
        async run({ page, out }) {
            await press(page, 't');
            assert.equal(await mainColour(page), '0,0,255');
            await press(page, 'Shift+A');
            assert.ok(await page.locator('#averaged').isChecked());
            const seen = await mainColour(page);
            assert.ok(close(seen, [127.5, 0, 127.5], 3), seen);
            await page.evaluate(() => window.mote.setEyeDome(0.5)); // both together
            assert.ok(close(await mainColour(page), [127.5, 0, 127.5], 12));
            await page.screenshot({ path: join(out, 'by-hand-average.png') });
            await page.evaluate(() => window.mote.setBoundingBox(true));
            await press(page, 'o');
            const parallel = await mainColour(page);
            assert.ok(close(parallel, [127.5, 0, 127.5], 12), `${parallel} in parallel projection`);
        },
    },
    'points are as large as the setting says': {
        // One point, and many far aside that say how far apart points are.
        data: (folder) => writeDataset(folder, [{ index: 0, position: [0, 0, 0] }, ...grid(400, (u, v) => [100000 + u * 100000, v * 100000, 0]).map((p) => ({ ...p, index: p.index + 1 }))], { ...FLAT, attributes: [POSITION] }),
        async run({ page }) {
            // The point 10 m from the eye, and 20 m.
            const widths = async () => {
                const out = [];
                for (const distance of [10, 20]) {
                    await page.evaluate((d) => (window.mote.camera = { target: [0, 0, 0], yaw: 0, pitch: 0, distance: d }), distance);
                    await idle(page);
                    out.push((await lit(page)).width);
                }
                return out;
            };
            await page.locator('#sizing').selectOption('fixed');
            await page.locator('#size').fill('4');
            const fixed = await widths();
            assert.ok(fixed[0] === fixed[1] && Math.abs(fixed[0] - 8) <= 1, `${fixed}`);
            await page.locator('#sizing').selectOption('distance');
            await page.locator('#size').fill('0.4');
            const [near, far] = await widths();
            assert.ok(near > 12 && Math.abs(near / far - 2) < 0.3, `${near} and ${far} pixels`);
            await page.mouse.click(...(await middle(page)));
            await press(page, 'a');
            assert.equal(await page.locator('#sizing').inputValue(), 'fixed');
        },
    },
};
