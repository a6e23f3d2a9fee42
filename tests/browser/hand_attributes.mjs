// What attributes look like: colours, classes, ramps, units of values.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle, stats } from './checks.mjs';
import { facts, grid, lit, numbersIn, ONE_NODE, pickedText, plain, POSITION, press } from './hand.mjs';
import { DEFAULT_ATTRIBUTES, quads, terrain, writeDataset } from '../viewer/make_dataset.mjs';

const DEGREES = {
    ...ONE_NODE, scale: [1e-7, 1e-7, 0.01], offset: [-123.07, 44.05, 100],
    attributes: [POSITION], projection: 'EPSG:4326',
};

// 0.01 degrees east and north, 30 m up: a slope.
const degrees = (folder, options = {}) => writeDataset(folder, grid(120, (u, v) => [u * 1e5, v * 1e5, u * 3000]), { ...DEGREES, ...options });

const blackPoints = () => terrain(3000).map((p) => ({ ...p, rgb: [0, 0, 0] }));

function changeMetadata(folder, change) {
    const file = join(folder, 'metadata.json');
    const metadata = JSON.parse(readFileSync(file, 'utf8'));
    change(metadata);
    writeFileSync(file, JSON.stringify(metadata));
}

export const ATTRIBUTE_CHECKS = {
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
    'a colouring that there is not leaves the picture': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        query: 'color=nonsense',
        async run({ page }) {
            await page.getByText(/no colour mode "nonsense"; there are rgb, height/).waitFor();
            assert.ok(!(await page.locator('#splash').isVisible()));
            assert.ok((await lit(page)).count > 200);
        },
    },
};
