// Filters: what is filtered out is neither drawn nor picked nor counted, whatever the colours.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { idle, stats } from './checks.mjs';
import { grid, lit, middle, ONE_NODE, pickedText, POSITION, press } from './hand.mjs';
import { DEFAULT_ATTRIBUTES, writeDataset } from '../viewer/make_dataset.mjs';

const number = (name, type) => ({ name, type, numElements: 1 });
const BOARD = {
    ...ONE_NODE, attributes: [POSITION, DEFAULT_ATTRIBUTES[1], number('return number', 'uint8'), number('number of returns', 'uint8'), number('gps-time', 'double')],
};
const N = 100;
// A board of 100 x 100: intensity by column, height by row, returns 1 of 1, 1 of 2 and 2 of 2 in turns, time by column.
const board = (folder) => writeDataset(folder, grid(N, (u, v) => [u * 10000, v * 10000, Math.round(v * 99) * 100], (i, j) => ({
    intensity: i * 10, 'return number': j % 3 === 2 ? 2 : 1, 'number of returns': j % 3 === 0 ? 1 : 2, 'gps-time': 3e8 + i,
})), BOARD);

const shown = async (page) => {
    await idle(page);
    return (await stats(page)).pointsDrawn;
};
const filterRow = (page, label) => page.locator('.filter', { hasText: label });

// Drags a handle to a share of the way.
async function drag(page, row, index, share) {
    const handle = row.locator('.handle').nth(index);
    await handle.scrollIntoViewIfNeeded();
    const [from, bars] = [await handle.boundingBox(), await row.locator('.bars').boundingBox()];
    await page.mouse.move(from.x + from.width / 2, from.y + from.height - 4);
    await page.mouse.down();
    await page.mouse.move(bars.x + bars.width * share, from.y + from.height - 4, { steps: 3 });
    await page.mouse.up();
}

export const FILTER_CHECKS = {
    'a range is filtered by its handles, whatever the colours, and by heights': {
        data: board,
        query: 'color=height&size=3&sizing=fixed',
        async run({ page, out }) {
            await press(page, 't');
            const whole = await lit(page);
            await page.locator('#filter-add').selectOption('intensity');
            const row = filterRow(page, 'Intensity');
            assert.equal(await shown(page), N * N);
            await drag(page, row, 1, 0.5);
            const half = await shown(page);
            assert.ok(Math.abs(half - (N * N) / 2) <= N, `${half} points`);
            const [low, high] = await row.locator('input').evaluateAll((fields) => fields.map((f) => f.valueAsNumber));
            assert.equal(half, N * [...Array(N).keys()].filter((i) => i * 10 >= low && i * 10 <= high).length);
            assert.ok(Math.abs((await lit(page)).width / whole.width - 0.5) < 0.04, 'half of the board is seen');
            assert.match(await page.locator('#s-points').innerText(), /points, 1 filter$/);
            // The right half cannot be picked, the left one can.
            const [x, y] = await middle(page);
            await page.mouse.dblclick(x + whole.width / 4, y);
            await idle(page);
            assert.equal(await pickedText(page), '');
            await page.waitForTimeout(400);
            await page.mouse.dblclick(x - whole.width / 4, y);
            await idle(page);
            assert.notEqual(await pickedText(page), '');
            // Heights are a slice; both filters count.
            await page.locator('#filter-add').selectOption('height');
            await filterRow(page, 'Height').locator('input').first().fill('3.5');
            await page.keyboard.press('Tab');
            await filterRow(page, 'Height').locator('input').nth(1).fill('5.5');
            await page.keyboard.press('Enter');
            const slice = [...Array(N).keys()].filter((j) => j / 10 >= 3.5 && j / 10 <= 5.5).length;
            assert.equal(await shown(page), (half / N) * slice);
            await page.locator('#h-filters').scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(out, 'by-hand-filters.png') });
            await press(page, 'Shift+V');
            assert.equal(await shown(page), N * N);
            assert.equal(await page.locator('.filter').count(), 0);
        },
    },
    'filters are copied and pasted as an expression of --where': {
        data: board,
        query: 'color=level',
        async run({ page }) {
            const field = page.locator('#filter-expression');
            await field.fill('intensity between 100 and 190 && z >= 3.45 && ReturnNumber == 1');
            await page.keyboard.press('Enter');
            const rows = [...Array(N).keys()].filter((j) => j >= 35 && j % 3 !== 2).length;
            assert.equal(await shown(page), 10 * rows);
            await field.evaluate((f) => f.blur());
            await press(page, 'Shift+V');
            assert.equal(await field.inputValue(), '');
            await field.fill('intensity between 100 and 190 && return_number == 1');
            await page.keyboard.press('Enter');
            await field.evaluate((f) => f.blur());
            await idle(page);
            assert.equal(await page.locator('.filter').count(), 2);
            // What the page has no filter for changes nothing, and is said.
            await field.fill('intensity > 5 || z < 2');
            await page.keyboard.press('Enter');
            assert.match(await field.evaluate((f) => f.validationMessage), /expected at/);
            assert.equal(await page.locator('.filter').count(), 2);
        },
    },
    'a filter is moved by the keyboard, and a link brings it along': {
        data: board,
        query: 'color=level&filter=gps-time:300000010:300000019&returns=first',
        async run({ page }) {
            const rows = [...Array(N).keys()].filter((j) => j % 3 !== 2).length;
            assert.equal(await shown(page), 10 * rows);
            assert.equal(await filterRow(page, 'First returns').count(), 1);
            const row = filterRow(page, 'GPS time');
            await row.locator('.handle').first().focus();
            await page.keyboard.press('Home');
            assert.equal(await shown(page), 20 * rows);
            assert.match(await row.locator('.handle').first().getAttribute('aria-valuetext'), /^\d{4}-\d\d-\d\d/);
            const link = await page.evaluate(() => window.mote.link());
            for (const [returns, share] of [['only', (j) => j % 3 === 0], ['last', (j) => j % 3 !== 1], ['between', () => false]]) {
                await page.locator('#filter-add').selectOption(`returns=${returns}`);
                assert.equal(await shown(page), 20 * [...Array(N).keys()].filter(share).length, returns);
            }
            await page.locator('#hint').getByText(/filters may hide/).waitFor({ timeout: 8000 });
            await page.goto(link);
            assert.equal(await shown(page), 20 * rows);
        },
    },
    'the range of colours is dragged over its histogram': {
        data: board,
        query: 'color=intensity',
        async run({ page, out }) {
            const row = page.locator('#ramp-settings');
            assert.ok(await row.locator('.bars i').evaluateAll((bars) => bars.filter((b) => b.offsetHeight > 2).length) > 50, 'bars are seen');
            await drag(page, row, 0, 0.25);
            await idle(page);
            const low = await page.locator('#low').evaluate((f) => f.valueAsNumber);
            assert.ok(Math.abs(low - 247) < 12, `the range begins at ${low}`);
            assert.match(await page.locator('#legend').innerText(), /Intensity\n2[345]/);
            assert.equal(await shown(page), N * N, 'colours hide nothing');
            await page.screenshot({ path: join(out, 'by-hand-histogram.png') });
        },
    },
};
