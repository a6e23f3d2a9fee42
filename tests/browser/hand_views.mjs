// How a view begins, and what an empty picture says.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { withTimeout } from './browser.mjs';
import { idle } from './checks.mjs';
import { lit, ONE_NODE, grid, POSITION, press } from './hand.mjs';
import { startServer } from './servers.mjs';
import { writeDataset } from '../viewer/make_dataset.mjs';

const hint = (page) => page.locator('#hint').innerText();
const hinted = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.getElementById('hint').innerText), pattern.source, { timeout: 20000 });
const said = (page) => page.evaluate(() => document.getElementById('said').textContent);
const upOf = (page) => page.evaluate(() => new URLSearchParams(window.mote.link().split('?')[1]).get('up') ?? 'z');

// Places as a file: of each [x, y, z], turned by turn().
function writePlaces(file, places, turn = (p) => p) {
    writeFileSync(file, `x y z\n${places.map((p) => turn(p).map((c) => c.toFixed(3)).join(' ')).join('\n')}\n`);
    return file;
}

// A cone on a plate: it stands with z up. Numbers from a sequence that is the same each time.
function statue(points = 20000) {
    let seed = 1;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    return Array.from({ length: points }, (_, i) => {
        if (i % 2) return [4 * random() - 2, 4 * random() - 2, 0.01 * random()];
        const [h, turn] = [random(), 2 * Math.PI * random()];
        const radius = 0.8 * (1 - h);
        return [radius * Math.cos(turn), radius * Math.sin(turn), 4 * h];
    });
}

// Floor, ceiling and walls of 8 x 6 x 3, with a box on the floor.
function room(step = 0.05) {
    const places = [];
    for (let x = 0; x <= 8; x += step) for (let y = 0; y <= 6; y += step) places.push([x, y, 0], [x, y, 3]);
    for (let h = 0; h <= 3; h += step) {
        for (let x = 0; x <= 8; x += step) places.push([x, 0, h], [x, 6, h]);
        for (let y = 0; y <= 6; y += step) places.push([0, y, h], [8, y, h]);
    }
    for (let x = 3; x <= 4; x += step) for (let y = 2; y <= 3; y += step) places.push([x, y, 1]);
    return places;
}

const TURNS = {
    z: (p) => p,
    y: ([x, y, z]) => [x, z, -y],
    '-y': ([x, y, z]) => [x, -z, y],
    x: ([x, y, z]) => [z, x, y],
};

// The axis that mote render takes for up.
function renderedUp(mote, input, folder) {
    const report = JSON.parse(execFileSync(mote, ['render', input, '-o', join(folder, 'up.png'), '--size', '64x64', '--json', '-q']));
    const axis = report.up.findIndex((c) => c !== 0);
    return `${report.up[axis] < 0 ? '-' : ''}${'xyz'[axis]}`;
}

async function startLive(mote, input) {
    const child = spawn(mote, ['view', '--live', input, '--no-open', '--port', '0', '--for', '120', '-q'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [data] = await withTimeout(once(child.stdout, 'data'), 60000, 'mote view --live');
    return { url: String(data).trim(), close: () => child.kill('SIGTERM') };
}

const withServer = async (server, work) => {
    try {
        return await work(server.url);
    } finally {
        await server.close();
    }
};

// Any files of a folder, to pages of other servers, too.
async function startOpen(folder) {
    const server = createServer((request, response) => {
        const path = join(folder, decodeURIComponent(new URL(request.url, 'http://x').pathname).replace(/\/$/, '/index.html'));
        const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Range' };
        if (!existsSync(path)) return response.writeHead(404, headers).end();
        const bytes = readFileSync(path);
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
        return response.writeHead(range ? 206 : 200, headers).end(range ? bytes.subarray(Number(range[1]), Number(range[2]) + 1) : bytes);
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export const VIEW_CHECKS = {
    'the address of a site is enough, of a folder and of a COPC file': {
        needsMote: true,
        alone: async ({ mote, folder, openPage }) => {
            for (const name of ['one.mote', 'two 2.copc.laz']) {
                execFileSync(mote, ['lod', writePlaces(join(folder, 'one.xyz'), statue()), join(folder, name), '-q']);
                execFileSync(mote, ['view', join(folder, name), '--export', join(folder, `site ${name}`), '-q']);
                await withServer(await startOpen(folder), async (site) => withServer(await startServer(mote, `${site}site%20${name.replace(' ', '%20')}/`), async (url) => {
                    const { page } = await openPage(url);
                    await idle(page);
                    assert.equal(await page.evaluate(() => window.mote.metadata().points), 20000);
                    await page.close();
                }));
            }
        },
    },
    'up is found as mote render finds it: folders, COPC, live; an address that says it is obeyed': {
        needsMote: true,
        alone: async ({ mote, folder, openPage }) => {
            for (const [up, turn] of Object.entries(TURNS)) {
                const file = writePlaces(join(folder, `${up}.xyz`), statue(), turn);
                for (const name of [`${up}.mote`, `${up}.copc.laz`]) {
                    const set = join(folder, name);
                    execFileSync(mote, ['lod', file, set, '-q']);
                    assert.equal(renderedUp(mote, set, folder), up, name);
                    await withServer(await startServer(mote, set), async (url) => {
                        const { page } = await openPage(url);
                        await idle(page);
                        assert.equal(await upOf(page), up, name);
                        assert.equal(/Up is taken to be/.test(await said(page)), up !== 'z');
                        await page.close();
                        if (up !== 'y' || name.endsWith('.laz')) return;
                        const asked = await openPage(`${url}?up=z`);
                        await idle(asked.page);
                        assert.equal(await upOf(asked.page), 'z');
                        await asked.page.close();
                    });
                }
                if (up !== '-y') continue;
                await withServer(await startLive(mote, file), async (url) => {
                    const { page } = await openPage(url);
                    await page.waitForFunction(() => window.mote?.live?.picture, null, { timeout: 30000 });
                    assert.equal(await page.evaluate(() => window.mote.live.settings.up), up);
                    await page.close();
                });
            }
        },
    },
    'a room opens without its ceiling, and Shift V puts it on again': {
        needsMote: true,
        data: (folder, mote) => {
            execFileSync(mote, ['lod', writePlaces(join(folder, 'room.xyz'), room()), join(folder, 'room.mote'), '-q']);
            return join(folder, 'room.mote');
        },
        run: async ({ page }) => {
            const filters = () => page.evaluate(() => window.mote.filters);
            const { height: [, cut] } = await filters();
            assert.ok(cut > 2.5 && cut < 2.96, `cut at ${cut}`);
            assert.match(await said(page), /The ceiling is cut off: Shift V shows it/);
            await press(page, 'Shift+V');
            assert.deepEqual(await filters(), {});
        },
    },
    'a stray of a COPC file does not make the others a dot': {
        needsMote: true,
        data: (folder, mote) => {
            const places = [[9e5, 9e5, 9e4], ...grid(150, (u, v) => [500 + 20 * u, 500 + 20 * v, 5 * u]).map(({ position }) => position)];
            execFileSync(mote, ['lod', writePlaces(join(folder, 'stray.xyz'), places), join(folder, 'stray.copc.laz'), '-q']);
            return join(folder, 'stray.copc.laz');
        },
        run: async ({ page }) => {
            assert.ok((await lit(page)).width > 300, 'the view begins with the others');
            await page.evaluate(() => { window.mote.camera = { ...window.mote.camera, target: [9e5, 9e5, 9e4] }; });
            await press(page, 'f');
            assert.ok((await lit(page)).width > 300);
            assert.equal(await hint(page), '');
        },
    },
    'two halves of a cloud, far apart, are dots, and the page says what goes there': {
        needsMote: true,
        data: (folder, mote) => {
            const half = (away) => grid(60, (u, v) => [away + 20 * u, 20 * v, 5 * u]).map(({ position }) => position);
            execFileSync(mote, ['lod', writePlaces(join(folder, 'halves.xyz'), [...half(0), ...half(5e5)]), join(folder, 'halves.mote'), '-q']);
            return join(folder, 'halves.mote');
        },
        run: async ({ page }) => {
            await hinted(page, /no more than a dot\. F fits them into the view, the wheel over a dot goes there/);
            const { left, top } = await lit(page);
            const box = await page.locator('#canvas').boundingBox();
            await page.mouse.move(box.x + left + 1, box.y + top + 1);
            for (let i = 0; i < 60; i++) await page.mouse.wheel(0, -400);
            await idle(page);
            await page.waitForFunction(() => document.getElementById('hint').hidden);
            assert.ok((await lit(page)).count > 500);
        },
    },
    'what is hidden is told apart from what is elsewhere, and Shift C shows it': {
        data: (folder) => writeDataset(folder, grid(100, (u, v) => [1000 * u, 1000 * v, 200 * u]), { ...ONE_NODE, attributes: [POSITION], scale: [0.01, 0.01, 0.01] }) && undefined,
        run: async ({ page }) => {
            await page.evaluate(() => window.mote.setFilter('height', [50, 60]));
            await hinted(page, /All points in view are hidden\. 1 filter may hide what is there: Shift V/);
            await press(page, 'Shift+C');
            assert.ok((await lit(page)).width > 200);
            assert.equal(await hint(page), '');
            await page.evaluate(() => { const c = window.mote.camera; window.mote.camera = { ...c, target: c.target.map((t) => t + 5000) }; });
            await hinted(page, /No point is in view from here\. F fits/);
            await press(page, 'f');
            await page.waitForFunction(() => document.getElementById('hint').hidden);
        },
    },
    'two clouds 500 km apart: one is seen, F goes to the other, and the page says how far it is': {
        needsMote: true,
        alone: async ({ mote, folder, openPage }) => {
            const inputs = [0, 5e5].map((away, i) => {
                const places = grid(80, (u, v) => [away + 100 * u, 100 * v, 10 * u]).map(({ position }) => position);
                const set = join(folder, `cloud${i}.mote`);
                execFileSync(mote, ['lod', writePlaces(join(folder, `${i}.xyz`), places), set, '-q']);
                return set;
            });
            const child = spawn(mote, ['view', ...inputs, '--no-open', '--port', '0', '--for', '120', '-q'], { stdio: ['ignore', 'pipe', 'inherit'] });
            const [data] = await withTimeout(once(child.stdout, 'data'), 60000, 'mote view');
            try {
                const { page } = await openPage(String(data).trim());
                await idle(page);
                const x = () => page.evaluate(() => window.mote.camera.target[0]);
                assert.ok(Math.abs(await x()) < 1000);
                assert.match(await said(page), /"cloud1\.mote" lies 500000 from "cloud0\.mote": together each is a dot\. F goes on/);
                await press(page, 'f');
                assert.ok(Math.abs((await x()) - 5e5) < 1000, 'the other one');
                assert.ok((await page.evaluate(() => window.mote.stats().pointsDrawn)) > 1000);
                await press(page, 'f');
                assert.ok(Math.abs(await x()) < 1000, 'and the first again');
            } finally {
                child.kill('SIGTERM');
            }
        },
    },
    'by density a regular grid is closed, at any distance': {
        data: (folder) => writeDataset(folder, grid(40, (u, v) => [3900 * u, 3900 * v, 0], (i, j) => ({ rgb: [65535, 65535, 65535] })), { ...ONE_NODE, scale: [0.01, 0.01, 0.01] }) && undefined,
        run: async ({ page }) => {
            await page.evaluate(() => { window.mote.setColorMode('rgb'); window.mote.camera = { ...window.mote.camera, pitch: 1.57, yaw: 0 }; });
            for (const share of [1, 0.6]) {
                await page.evaluate((s) => { const c = window.mote.camera; window.mote.camera = { ...c, distance: c.distance * s }; }, share);
                await idle(page);
                const { count, width, height } = await lit(page);
                assert.ok(count > 0.97 * width * height, `${count} of ${width * height} pixels are lit`);
            }
        },
    },
    'on a phone and on a small laptop nothing covers anything, and fingers have 44 pixels': {
        data: (folder) => writeDataset(folder, grid(80, (u, v) => [1000 * u, 1000 * v, 200 * u], (i, j) => ({ classification: (i + j) % 23 })), { ...ONE_NODE, scale: [0.01, 0.01, 0.01] }) && undefined,
        query: 'color=classification',
        run: async ({ page, out }) => {
            const controls = (selector) => page.locator(selector).evaluateAll((list) => list.filter((e) => e.checkVisibility()).map((e) => ({ id: e.id || e.title || e.textContent, ...(({ left, top, right, bottom, width, height }) => ({ left, top, right, bottom, width, height }))(e.getBoundingClientRect()) })));
            const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
            for (const [name, width, height] of [['phone', 390, 844], ['laptop', 900, 480]]) {
                const isPhone = name === 'phone';
                await page.setViewportSize({ width, height });
                await page.evaluate((no) => document.body.classList.toggle('no-panel', no), isPhone);
                await idle(page);
                await page.evaluate(() => { document.getElementById('said').textContent = 'Something was said that needs more than one line on a phone, as it is long.'; document.getElementById('said').hidden = false; });
                const lies = await controls('#toolbar button, #tools button, #panel-toggle, #legend, #said, #status');
                await page.screenshot({ path: join(out, `by-hand-small-${name}.png`) });
                for (const a of lies) {
                    assert.ok(a.left >= 0 && a.top >= 0 && a.right <= width && a.bottom <= height, `${name}: ${a.id} is not all in the window`);
                    for (const b of lies) assert.ok(a === b || !over(a, b), `${name}: ${a.id} covers ${b.id}`);
                    if (isPhone && !/^(legend|said|status)$/.test(a.id)) assert.ok(a.width >= 44 && a.height >= 44, `${a.id}: ${a.width} x ${a.height}`);
                }
                await page.keyboard.press('d');
                assert.equal((await controls('#legend')).length, 0, 'the legend makes way for what is measured');
                await page.keyboard.press('Escape');
                if (!isPhone) continue;
                await page.evaluate(() => document.body.classList.remove('no-panel'));
                for (const a of await controls('#panel :is(button, select, summary, input:not([type=checkbox], [type=file]), label.check), #classes label')) assert.ok(a.height >= 43.9, `${a.id} is ${a.height} high`);
                await page.screenshot({ path: join(out, 'by-hand-small-panel.png') });
            }
        },
    },
};
