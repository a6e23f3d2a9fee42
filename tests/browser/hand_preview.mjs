// The first picture of what is being converted: a sample, and then the octree in its place, without a jump.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { withTimeout } from './browser.mjs';
import { idle } from './checks.mjs';
import { BARE, bare, PLAIN, withQuery } from './hand.mjs';
import { readPng } from './png.mjs';
import { startStatic } from './static_server.mjs';
import { terrain, writeDataset } from '../viewer/make_dataset.mjs';

const POINTS = 40000;
const EACH = 20; // the sample has one point of as many

// A terrain and its sample, which says of itself what the whole one says.
function makePair(folder, { number = '', name = 'test', offset = [500000, 5400000, 0] } = {}) {
    const points = terrain(POINTS);
    const whole = writeDataset(join(folder, `whole${number}`), points, { name, offset }).metadata;
    const { metadata } = writeDataset(join(folder, `sample${number}`), points.filter((_, i) => i % EACH === 0), { name, offset });
    const position = (json) => json.attributes.find((attribute) => attribute.name === 'position');
    Object.assign(position(metadata), { min: position(whole).min, max: position(whole).max });
    writeFileSync(join(folder, `sample${number}`, 'metadata.json'), JSON.stringify({ ...metadata, mote: { points: POINTS } }));
}

// A server that makes octrees as `mote view` does, but as long as it is wanted. made: how many; news: what it says of the next.
async function startMaking(folder, dist) {
    const files = await startStatic(join(folder, 'whole'), { ...(dist ? { dist } : {}), extra: { '/preview/': join(folder, 'sample'), '/preview2/': join(folder, 'sample2'), '/data2/': join(folder, 'whole2') } });
    const state = { news: { state: 'making', done: 0.25, stage: 'sorting', error: '', told: '', untold: 0 }, made: 0, asked: 0 };
    const server = createServer(async (request, response) => {
        const [, number] = /^\/data(2?)\//.exec(request.url) ?? [];
        if (number !== undefined && state.made < Number(number || 1)) {
            if (request.url.endsWith('metadata.json')) state.asked++;
            return response.writeHead(202, { 'Content-Type': 'application/json' }).end(JSON.stringify({ preview: `../preview${number}/`, ...state.news }));
        }
        const { range } = request.headers;
        const answer = await fetch(files.url + request.url.slice(1), range ? { headers: { range } } : {});
        const kept = ['content-type', 'content-range', 'content-length'].flatMap((name) => (answer.headers.has(name) ? [[name, answer.headers.get(name)]] : []));
        response.writeHead(answer.status, Object.fromEntries(kept)).end(Buffer.from(await answer.arrayBuffer()));
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const close = async () => {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
        await files.close();
    };
    return { url: `http://127.0.0.1:${server.address().port}/`, state, close };
}

const isSample = (page) => page.evaluate(() => window.mote.metadata().isSample);
const whole = (page) => page.waitForFunction(() => !window.mote.metadata().isSample, null, { timeout: 120000 });
// The address follows the view, and where it does the camera has the numbers that it says.
const settled = async (page) => {
    await page.waitForFunction(() => /[?&]cam=/.test(location.search), null, { timeout: 120000 });
    await new Promise((done) => setTimeout(done, 600));
    await idle(page);
};
const seen = (page) => page.evaluate(() => {
    const { camera, colorMode, hiddenClasses, filters, marks } = window.mote;
    return { camera, colorMode, hiddenClasses, filters, marks, legend: document.getElementById('legend').textContent };
});

// The mean colours of squares of a picture: points that are close together blend, as they do for who stands back.
function squares(png, side = 40) {
    const out = [];
    for (let y = 0; y + side <= png.height; y += side) {
        for (let x = 0; x + side <= png.width; x += side) {
            const sum = [0, 0, 0];
            for (let j = 0; j < side; j++) for (let i = 0; i < side; i++) png.at(x + i, y + j).slice(0, 3).forEach((v, k) => (sum[k] += v));
            out.push(sum.map((v) => v / side / side));
        }
    }
    return out;
}
const difference = (a, b) => a.reduce((sum, rgb, i) => sum + rgb.reduce((s, v, k) => s + Math.abs(v - b[i][k]), 0) / 3, 0) / a.length;

// What each frame draws from now on.
const watchFrames = (page) => page.evaluate(() => {
    window.drawn = [];
    window.mote.on('frame', () => window.drawn.push(window.mote.stats().pointsDrawn));
});

async function opened(page, url, query) {
    await page.goto(withQuery(url, PLAIN, query));
    await page.addStyleTag({ content: BARE });
    await page.waitForFunction(() => window.mote?.stats?.().firstPictureMs > 0, null, { timeout: 120000 });
    await idle(page);
}

export const PREVIEW_CHECKS = {
    'a sample is shown until the octree is made, and nothing jumps': {
        async alone({ folder, out, openPage }) {
            makePair(folder);
            const server = await startMaking(folder);
            const { page, problems } = await openPage('about:blank');
            try {
                await opened(page, server.url, `color=intensity&mark=${encodeURIComponent('distance;500020,5400020,10;500150,5400030,10')}`);
                assert.equal(await isSample(page), true);
                assert.match(await page.locator('#s-making').innerText(), /sorting 25 %/);
                await page.evaluate(() => {
                    const { camera } = window.mote;
                    window.mote.camera = { ...camera, yaw: camera.yaw + 0.4, distance: 0.8 * camera.distance };
                    window.mote.hideClasses([5]);
                    window.mote.setFilter('height', [-100, 30]);
                    window.mote.setFilter('gps-time', [3e8, 4e8]);
                    window.mote.setPointBudget(200000);
                });
                await settled(page);
                const [before, picture] = [await seen(page), await bare(page)];
                assert.equal(before.marks.length, 1);
                writeFileSync(join(out, 'preview-sample.png'), picture);
                await watchFrames(page);
                await page.evaluate(() => window.mote.setPointBudget(200001)); // a frame of the sample
                await idle(page);
                server.state.news.done = 0.75;
                await page.waitForFunction(() => /75 %/.test(document.getElementById('s-making').textContent));
                server.state.made = 1;
                await whole(page);
                await idle(page);
                assert.deepEqual(await seen(page), before);
                const after = await bare(page);
                writeFileSync(join(out, 'preview-whole.png'), after);
                const drawn = await page.evaluate(() => window.drawn);
                const few = (POINTS / EACH) * 0.3;
                assert.ok(Math.min(...drawn) > few, `no frame is empty: ${drawn}`);
                assert.ok(drawn.at(-1) > 5 * few, `all are drawn: ${drawn}`);
                const jump = drawn.findIndex((n) => n > 2 * drawn[0]);
                assert.ok(drawn[jump] > 0.9 * drawn.at(-1), `they come in one frame: ${drawn}`);
                // The pictures are alike, as those of another camera are not.
                const { camera } = before;
                await page.evaluate((other) => (window.mote.camera = other), { ...camera, yaw: camera.yaw + 0.3 });
                await idle(page);
                const [sampled, all, turned] = [picture, after, await bare(page)].map((png) => squares(readPng(png)));
                assert.ok(difference(sampled, all) < 0.6 * difference(all, turned), `${difference(sampled, all)}, turned ${difference(all, turned)}`);
                await page.evaluate((same) => (window.mote.camera = same), camera);
                await settled(page);
                assert.equal(await page.locator('#s-making').innerText(), '');
                assert.match(await page.locator('#said').innerText(), /The octree is made/);
                assert.doesNotMatch(page.url(), /preview/);
                // Of the octree alone the same address shows the same.
                const fresh = await openPage(page.url());
                await idle(fresh.page);
                assert.equal((await page.evaluate(() => window.mote.stats())).pointsDrawn, (await fresh.page.evaluate(() => window.mote.stats())).pointsDrawn);
                await fresh.page.close();
                assert.deepEqual(problems, []);
            } finally {
                await page.close();
                await server.close();
            }
        },
    },
    'figures of a sample are estimates, and nothing of it is saved as the whole': {
        async alone({ folder, openPage }) {
            makePair(folder);
            const server = await startMaking(folder);
            const mark = `mark=${encodeURIComponent('volume;500020,5400020,10;500150,5400030,10;500100,5400150,10')}`;
            const { page, problems } = await openPage('about:blank');
            try {
                await opened(page, server.url, mark);
                await page.waitForFunction(() => window.mote.figures[0]?.total > 0 && window.mote.figures[0].figures);
                await page.waitForFunction(() => window.mote.figures[0].done > 0 && window.mote.figures[0].total > 10 * window.mote.figures[0].done);
                const [estimate] = await page.evaluate(() => window.mote.figures);
                assert.notEqual(estimate.state, 'done');
                await page.evaluate(() => document.getElementById('points-save').click());
                await page.locator('#messages').getByText(/the octree is still being made/).waitFor();
                server.state.made = 1;
                await page.waitForFunction(() => window.mote.figures[0].state === 'done', null, { timeout: 30000 });
                const [figure] = await page.evaluate(() => window.mote.figures);
                assert.ok(figure.figures.points > 10 * estimate.figures.points, `${figure.figures.points} of ${estimate.figures.points} points`);
                assert.deepEqual(problems, []);
            } finally {
                await page.close();
                await server.close();
            }
        },
    },
    'classes that were given to a sample are those of the octree': {
        async alone({ folder, openPage }) {
            makePair(folder);
            const server = await startMaking(folder);
            const { page, problems } = await openPage('about:blank');
            const shown = () => page.evaluate(() => window.mote.stats().pointsDrawn);
            try {
                await opened(page, server.url);
                await page.evaluate(() => {
                    document.getElementById('edit-class').value = '9';
                    document.getElementById('edit-add').click();
                });
                // Each time it is asked for a frame begins anew: on a busy machine not before the last one has ended.
                const none = () => { window.mote.hideClasses([9]); return window.mote.stats().pointsDrawn === 0; };
                await page.waitForFunction(none, null, { polling: 1000, timeout: 60000 });
                await page.evaluate(() => window.mote.hideClasses([2, 5, 6]));
                await idle(page);
                assert.ok((await shown()) > 1000, `${await shown()}`);
                server.state.made = 1;
                await whole(page);
                await page.waitForFunction(() => window.mote.stats().pointsDrawn > 10000, null, { timeout: 60000 });
                await page.evaluate(() => window.mote.hideClasses([9]));
                await idle(page);
                assert.equal(await shown(), 0);
                assert.deepEqual(problems, []);
            } finally {
                await page.close();
                await server.close();
            }
        },
    },
    'two clouds, each with a sample, go over to their octrees one after the other': {
        async alone({ folder, openPage }) {
            makePair(folder);
            makePair(folder, { number: '2', name: 'second', offset: [500210, 5400000, 0] });
            const server = await startMaking(folder);
            const { page, problems } = await openPage('about:blank');
            const lines = () => page.locator('#s-making > span').count();
            const drawn = () => page.evaluate(() => window.mote.stats().pointsDrawn);
            try {
                await opened(page, server.url, 'data=data/&data=data2/');
                await page.waitForFunction(() => window.mote.clouds.length === 2);
                await settled(page);
                const { camera } = await seen(page);
                assert.equal(await lines(), 2);
                assert.ok((await drawn()) < 3 * (POINTS / EACH), 'two samples');
                for (const made of [1, 2]) {
                    server.state.made = made;
                    await page.waitForFunction((left) => document.querySelectorAll('#s-making > span').length === left, 2 - made, { timeout: 60000 });
                    await idle(page);
                    assert.deepEqual((await seen(page)).camera, camera);
                }
                assert.ok((await drawn()) > 10 * (POINTS / EACH), 'two octrees');
                const clouds = await page.evaluate(() => window.mote.clouds.map(({ name, points, colorMode }) => [name, points, colorMode]));
                assert.deepEqual(clouds, [['test', POINTS, 'rgb'], ['second', POINTS, 'rgb']]);
                assert.deepEqual(problems, []);
            } finally {
                await page.close();
                await server.close();
            }
        },
    },
    'what is left out of an octree, and why there is none, is told once': {
        async alone({ folder, openPage }) {
            makePair(folder);
            const server = await startMaking(folder);
            server.state.news.told = 'a.laz: offset 5: broken\nb.laz: cut';
            const { page } = await openPage('about:blank');
            try {
                await opened(page, server.url);
                await page.locator('#messages').getByText(/Left out:\s*a\.laz: offset 5: broken\s*b\.laz: cut/).waitFor();
                const { asked } = server.state;
                while (server.state.asked < asked + 3) await new Promise((done) => setTimeout(done, 100));
                assert.equal(await page.locator('#messages > *').count(), 1);
                Object.assign(server.state.news, { state: 'failed', error: 'the disk is full.' });
                await page.locator('#messages').getByText(/cannot be made: the disk is full\./).waitFor();
                assert.match(await page.locator('#s-making').innerText(), /a sample of the points/);
                const before = server.state.asked;
                await new Promise((done) => setTimeout(done, 1500));
                assert.equal(server.state.asked, before, 'it is not asked any more');
                assert.equal(await isSample(page), true);
            } finally {
                await page.close();
                await server.close();
            }
        },
    },
    'mote view of a folder of files shows them before their octree is made': {
        needsMote: true,
        maxMs: 240000,
        async alone({ mote, folder, out, openPage }) {
            mkdirSync(join(folder, 'tiles'));
            for (const seed of [1, 2]) execFileSync(mote, ['gen', 'uniform', '-n', '3M', '--seed', String(seed), '-o', join(folder, 'tiles', `${seed}.las`), '-q']);
            writeFileSync(join(folder, 'tiles', '3.las'), readFileSync(join(folder, 'tiles', '2.las')).subarray(0, 100));
            const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache'), TMPDIR: folder };
            const view = () => spawn(mote, ['view', join(folder, 'tiles'), '--threads', '1', '--no-open', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'], env });
            const child = view();
            let said = '';
            child.stderr.on('data', (data) => (said += data));
            const [data] = await withTimeout(once(child.stdout, 'data'), 60000, 'the address');
            const { page, problems } = await openPage('about:blank');
            try {
                await opened(page, String(data).trim());
                assert.equal(await isSample(page), true, 'the picture comes before the octree');
                await settled(page);
                const { camera } = await seen(page);
                writeFileSync(join(out, 'preview-tiles.png'), await bare(page));
                await whole(page);
                await idle(page);
                assert.deepEqual((await seen(page)).camera, camera);
                assert.equal(await page.evaluate(() => window.mote.metadata().points), 6e6);
                assert.match(await page.locator('.classes .number').first().innerText(), /6(\.0)? M/);
                assert.equal(said.match(/3\.las/g)?.length, 1, said);
                assert.deepEqual(problems, []);
            } finally {
                await page.close();
                const ended = once(child, 'exit');
                child.kill('SIGTERM');
                assert.deepEqual(await withTimeout(ended, 20000, 'the end'), [0, null]);
            }
            // The next start finds the octree.
            const again = view();
            const [address] = await withTimeout(once(again.stdout, 'data'), 60000, 'the address');
            const { status } = await fetch(`${String(address).trim()}data/metadata.json`);
            again.kill('SIGTERM');
            assert.equal(status, 200);
        },
    },
};
