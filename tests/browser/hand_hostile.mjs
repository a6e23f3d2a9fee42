// Servers that fail, data that lies, many clients at once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { extname, join } from 'node:path';
import { idle, stats } from './checks.mjs';
import { lit, makeCity, ONE_NODE, PLAIN, press, withQuery } from './hand.mjs';
import { readPng } from './png.mjs';
import { startStatic } from './static_server.mjs';
import { terrain, writeDataset } from '../viewer/make_dataset.mjs';

const TREE = { grid: 16, leaf: 400 };
const CLIENTS = 20;
const REQUESTS = 30; // of each client

const portOf = (url) => Number(new URL(url).port);

// A server of page and data that may answer otherwise: change(path, bytes, count of requests for the path) -> bytes, or a status.
function startChanged(folder, dist, change) {
    const seen = new Map();
    const server = createServer((req, res) => {
        const path = new URL(req.url, 'http://x').pathname;
        const file = path.startsWith('/data/') ? join(folder, path.slice(6)) : join(dist, path === '/' ? 'index.html' : path.slice(1));
        if (!existsSync(file) || !statSync(file).isFile()) return res.writeHead(404).end();
        seen.set(path, (seen.get(path) ?? 0) + 1);
        const range = /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? '');
        const all = readFileSync(file);
        const part = range ? all.subarray(Number(range[1]), range[2] ? Number(range[2]) + 1 : undefined) : all;
        const answer = change(path, Buffer.from(part), seen.get(path));
        const type = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }[extname(file)] ?? 'application/octet-stream';
        if (typeof answer === 'number') return res.writeHead(answer).end();
        return res.writeHead(range ? 206 : 200, { 'Content-Type': type, 'Content-Length': answer.length, 'Cache-Control': 'no-store' }).end(answer);
    });
    return new Promise((done) => server.listen(0, '127.0.0.1', () => done({
        url: `http://127.0.0.1:${server.address().port}/`, seen,
        close: () => new Promise((closed) => {
            server.closeAllConnections();
            server.close(closed);
        }),
    })));
}

// [status, bytes] of one request, whatever its path looks like.
const ask = (port, path, headers = {}) => new Promise((done, failed) => {
    const req = request({ host: '127.0.0.1', port, path, headers }, (res) => {
        const parts = [];
        res.on('data', (d) => parts.push(d));
        res.on('end', () => done([res.statusCode, Buffer.concat(parts)]));
    });
    req.on('error', failed);
    req.end();
});

export const HOSTILE_CHECKS = {
    'a server that dies is said and asked again; when it is back, so are the points': {
        data: (folder) => writeDataset(folder, terrain(20000), TREE),
        loud: true,
        async run({ page, folder, dist }) {
            let server = await startStatic(folder, { dist });
            const port = portOf(server.url);
            await page.goto(`${server.url}?${PLAIN}&budget=3000`);
            await idle(page);
            const before = (await stats(page)).pointsDrawn;
            await server.close();
            await page.evaluate(() => {
                window.mote.setMaxError(0);
                window.mote.setPointBudget(1e6);
            });
            await page.locator('#messages').getByText(/does not answer.*asked again/).waitFor({ timeout: 15000 });
            await pressOffline(page, 'ArrowLeft');
            assert.ok((await lit(page)).count > 100, 'what is there is still drawn');
            server = await startStatic(folder, { dist, port });
            try {
                await page.getByText('The server answers again.').waitFor({ timeout: 20000 });
                await idle(page);
                assert.ok((await stats(page)).pointsDrawn === 20000 && before < 20000);
                assert.equal(await page.locator('.message').count(), 0, 'the note goes');
            } finally {
                await server.close();
            }
        },
    },
    'a node that comes broken is asked for once more; one that stays broken is said, the others are shown': {
        data: (folder) => writeDataset(folder, terrain(20000), { ...TREE, encoding: 'BROTLI' }),
        noIdle: true,
        loud: true,
        async run({ page, folder, dist }) {
            for (const [stays, pattern] of [[false, null], [true, /node r\d*:.*brotli/]]) {
                // The 2nd piece of octree.bin comes as zeros: once, or whenever it is asked for.
                let broken = null;
                const server = await startChanged(folder, dist, (path, bytes, count) => {
                    if (path !== '/data/octree.bin') return bytes;
                    if (count === 2) broken = bytes.toString('latin1');
                    return count === 2 || (stays && bytes.length < broken?.length + 1 && broken.includes(bytes.toString('latin1'))) ? Buffer.alloc(bytes.length) : bytes;
                });
                try {
                    await page.goto(`${server.url}?${PLAIN}&error=0`);
                    await idle(page);
                    const { pointsDrawn } = await stats(page);
                    if (pattern) {
                        await page.locator('#messages').getByText(pattern).first().waitFor({ timeout: 10000 });
                        assert.ok(pointsDrawn > 500 && pointsDrawn < 20000, `${pointsDrawn} points`);
                    } else {
                        assert.equal(pointsDrawn, 20000);
                        assert.equal(await page.locator('.message').count(), 0);
                    }
                } finally {
                    await server.close();
                }
            }
        },
    },
    'a busy server (503) is waited for': {
        data: (folder) => writeDataset(folder, terrain(20000), TREE),
        noIdle: true,
        loud: true,
        async run({ page, folder, dist }) {
            const server = await startChanged(folder, dist, (path, bytes, count) => (path === '/data/octree.bin' && count > 1 && count < 5 ? 503 : bytes));
            try {
                await page.goto(`${server.url}?${PLAIN}&error=0`);
                await idle(page);
                assert.equal((await stats(page)).pointsDrawn, 20000);
            } finally {
                await server.close();
            }
        },
    },
    'markup in names is text': {
        data(folder) {
            const evil = '<img src=x onerror="window.evil=1">';
            writeDataset(folder, terrain(3000).map((p, i) => ({ ...p, [evil]: i % 7 })), {
                ...ONE_NODE, projection: `PROJCS["${evil}"]`,
                attributes: [{ name: 'position', type: 'int32', numElements: 3 }, { name: evil, type: 'uint16', numElements: 1 }],
            });
            const file = join(folder, 'metadata.json');
            const json = JSON.parse(readFileSync(file, 'utf8'));
            writeFileSync(file, JSON.stringify({ ...json, name: evil, description: evil, flags: [evil] }));
        },
        async run({ page }) {
            const mode = await page.evaluate(() => window.mote.colorModes.find((m) => m.includes('img')));
            await page.evaluate((m) => {
                window.mote.setColorMode(m);
                window.mote.setFilter(m, [1, 5]);
            }, mode);
            await press(page, 'm');
            await page.goto(await page.evaluate(() => window.mote.link()));
            await idle(page);
            assert.equal(await page.evaluate(() => window.evil ?? document.querySelectorAll('img').length), 0);
            assert.ok((await stats(page)).pointsDrawn < 3000, 'the filter is in the link');
            assert.match(await page.title(), /<img/);
        },
    },
    'twenty clients at once get the right bytes, while the page draws': {
        needsMote: true,
        data(folder, mote) {
            makeCity(mote, folder, 'city.mote', '200k');
            return join(folder, 'city.mote');
        },
        async run({ page, url, folder }) {
            const port = portOf(url);
            const octree = readFileSync(join(folder, 'city.mote/octree.bin'));
            const client = async (seed) => {
                for (let i = 0; i < REQUESTS; i++) {
                    const first = (seed * 7919 + i * 104729) % octree.length;
                    const last = Math.min(octree.length - 1, first + ((seed + i) % 50) * 1000);
                    const [status, bytes] = await ask(port, '/data/octree.bin', { Range: `bytes=${first}-${last}` });
                    assert.equal(status, 206);
                    assert.ok(bytes.equals(octree.subarray(first, last + 1)));
                }
            };
            const all = Promise.all([...Array(CLIENTS).keys()].map(client));
            await page.reload();
            await idle(page);
            await all;
            assert.ok((await stats(page)).pointsDrawn > 10000);
            // Ways out of the folder, and ranges that are none.
            for (const path of ['/data/../metadata.json', '/data/%2e%2e/city.las', '/data/..%5ccity.las', '/../../etc/passwd', '/data//etc/passwd', '/data/%00', '/data/octree.bin/..', '/%', `/${'a'.repeat(5000)}`]) {
                const [status] = await ask(port, path);
                assert.ok(status >= 400 && status < 500, `${path} ${status}`);
            }
            for (const [range, statuses] of [['bytes=-1', [206]], ['bytes=0-', [206]], ['bytes=5-1', [200, 416]], ['bytes=99999999999-', [416]], ['bytes=-0', [416, 200]], ['bytes=a-b', [200, 416]],
                ['lines=1-2', [200]], ['bytes=0-0,2-3', [200, 206]], [`bytes=${'9'.repeat(400)}-`, [200, 416]], ['bytes=18446744073709551615-18446744073709551616', [200, 416]]]) {
                const [status, bytes] = await ask(port, '/data/octree.bin', { Range: range });
                assert.ok(statuses.includes(status), `${range} ${status}`);
                if (status === 200) assert.equal(bytes.length, octree.length);
            }
        },
    },
    'an address of nonsense opens the picture, and says what is nonsense': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page, url, out }) {
            for (const [query, said] of [['cam=1e308', /not near the data/], ['cam=1e308,0,0,0,0,1', /not near the data/], ['cam=0,0,0,0,0,1e308', null], ['budget=1e308&size=NaN', /size=NaN/], ['mark=constructor;1,2,3', /a mark/],
                ['mark=__proto__;1,2,3', /a mark/], ['range=1e308,-1e308&color=height', /a range/], ['filter=__proto__:1:2&active=1e308&hide=99999999999', null], ['filter=height:NaN:2', /a filter/], ['up=toString&ramp=constructor', /up=toString/]]) {
                await page.goto(`${url}?${PLAIN}&${query}`);
                await page.locator('#splash').waitFor({ state: 'hidden', timeout: 10000 });
                await idle(page);
                assert.ok((await stats(page)).pointsDrawn > 100, `${query}: ${(await stats(page)).pointsDrawn} points`);
                const messages = await page.locator('#messages').innerText();
                assert.match(messages, said ?? /^$/, query);
            }
            await page.screenshot({ path: join(out, 'by-hand-nonsense.png') });
        },
    },
    'what hides everything does not keep the page from opening: it is said, and a click shows everything': {
        data: (folder) => writeDataset(folder, terrain(3000), TREE),
        async run({ page, url, out }) {
            const { target } = await page.evaluate(() => window.mote.camera);
            const [x, y, z] = target;
            const far = 1e6;
            for (const [query, said] of [[`mark=clip;${x + far},${y},${z};1,1,1;0;in`, /1 clip box/], [`mark=clip;${target};${far},${far},${far};0;out`, /1 clip box/], [`mark=clip;${x + far},${y},${z};1,1,1;0;in&mark=clip;${x},${y + far},${z};1,1,1;0;in`, /2 clip boxes/],
                [`cam=${x},${y},${z + 5000},0,-1.5,10`, /F fits/], ['shown=0', /1 cloud is switched off/], ['filter=height:1e9:2e9', /1 filter/]]) {
                await page.goto(`${url}?${PLAIN}&${query}`);
                await page.locator('#splash').waitFor({ state: 'hidden', timeout: 10000 });
                await page.locator('#hint').getByText(said).waitFor({ timeout: 10000 });
                await page.screenshot({ path: join(out, 'by-hand-hidden.png') });
                if (/F fits/.test(String(said))) await press(page, 'f');
                else await page.getByRole('button', { name: 'Show everything' }).click();
                await idle(page);
                assert.ok((await stats(page)).pointsDrawn > 100, `${query}: ${(await stats(page)).pointsDrawn} points`);
                await page.locator('#hint').waitFor({ state: 'hidden', timeout: 10000 });
            }
        },
    },
    'marks of any kind from a file leave the page whole': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        async run({ page, folder }) {
            const { target } = await page.evaluate(() => window.mote.camera);
            const kinds = ['constructor', '__proto__', 'toString', 7, null, 'x'.repeat(100000), { toString: 1 }, 'point'];
            const features = kinds.map((kind) => `{"type": "Feature", "geometry": {"type": "Point", "coordinates": [${target}]}, "properties": {"kind": ${JSON.stringify(kind)}, "text": ${JSON.stringify(kind)}, "__proto__": {"kind": "area"}}}`);
            const file = join(folder, 'kinds.geojson');
            writeFileSync(file, `{"type": "FeatureCollection", "features": [${features.join()}]}`);
            await page.locator('#marks-file').setInputFiles(file);
            await page.locator('#said').getByText('7 read from kinds.geojson; 1 were there already').waitFor();
            await idle(page);
            assert.equal(await page.locator('#marks li').count(), 7);
            assert.deepEqual((await page.evaluate(() => window.mote.marks)).map(({ kind }) => kind), [...Array(6).fill('note'), 'point']);
            await press(page, 'ArrowLeft');
            assert.ok((await stats(page)).pointsDrawn > 100);
        },
    },
    // Each is some tens of milliseconds of a first picture.
    'nothing that the first picture can do without comes before it': {
        data: (folder) => writeDataset(folder, terrain(3000), ONE_NODE),
        query: 'edl=0.5',
        before: (page) => page.addInitScript(() => {
            const order = (window.told = []);
            document.addEventListener('DOMContentLoaded', () => order.push(document.querySelector('#canvas').style.visibility || 'shown'), { once: true });
            const { fetch } = window;
            window.fetch = (url, ...rest) => {
                order.push(/[^/]*$/.exec(new URL(url, location.href).pathname)[0]);
                return fetch(url, ...rest);
            };
            const look = () => {
                if (document.querySelector('#facts')?.childElementCount > 0) return order.push('data set told');
                requestAnimationFrame(look);
            };
            look();
        }),
        async run({ page }) {
            const found = await page.evaluate(() => ({
                order: window.told,
                shown: document.querySelector('#canvas').style.visibility,
                preloaded: [...document.querySelectorAll('link[rel=modulepreload], script[type=module]')].map(({ href, src }) => href ?? src),
                scripts: performance.getEntriesByType('resource').filter(({ name }) => /chunk-chunk.*js$/.test(name)).map(({ name }) => name),
                measuring: performance.getEntriesByName(new URL('measure.wasm', location.href).href).map(({ startTime }) => startTime),
                firstPictureMs: window.mote.stats().firstPictureMs,
            }));
            assert.ok(found.scripts.length > 0);
            for (const script of found.scripts) assert.ok(found.preloaded.includes(script), `${script} is asked for when its importer has come`);
            assert.equal(found.order[0], 'metadata.json', `${found.order}`);
            assert.ok(found.order.includes('hidden'), 'an empty canvas is not composed with the page, which would wait for shaders');
            assert.equal(found.shown, '');
            assert.ok(found.order.indexOf('octree.bin') < found.order.indexOf('data set told'), `${found.order}`);
            assert.ok(found.measuring.every((ms) => ms > found.firstPictureMs), `${found.measuring}, ${found.firstPictureMs}`);
        },
    },
    'where no first picture comes there are the background, the focus of keys and what was measured': {
        async alone({ folder, openPage }) {
            const broken = {
                'no points': () => writeDataset(folder, [], ONE_NODE),
                'no octree': () => writeFileSync(join(folder, 'octree.bin'), ''),
                'no hierarchy': () => writeFileSync(join(folder, 'hierarchy.bin'), ''),
                'no metadata': () => rmSync(join(folder, 'metadata.json')),
            };
            for (const [what, spoil] of Object.entries(broken)) {
                writeDataset(folder, terrain(3000), ONE_NODE);
                const { boundingBox: { min, max } } = JSON.parse(readFileSync(join(folder, 'metadata.json')));
                spoil();
                const ends = [0.3, 0.7].map((share) => min.map((m, i) => m + share * (max[i] - m)).join());
                const server = await startStatic(folder);
                const { page } = await openPage(withQuery(server.url, 'background=white&edl=0', `mark=${encodeURIComponent(`distance;${ends.join(';')}`)}`));
                await page.locator('#splash').getByText(/has no points|Nothing to show/).waitFor();
                await page.waitForFunction(() => document.querySelector('#canvas').checkVisibility({ visibilityProperty: true }), null, { timeout: 5000 }).catch(() => assert.fail(`${what}: the canvas stays hidden`));
                await page.evaluate(() => document.querySelector('#canvas').focus());
                assert.equal(await page.evaluate(() => document.activeElement.id), 'canvas', what);
                const png = readPng(await page.locator('#canvas').screenshot());
                assert.deepEqual(png.at(100, 450), [255, 255, 255], what);
                if (what === 'no octree') assert.ok((await page.locator('#overlay').innerHTML()).includes('line'), 'what the link has measured');
                await page.close();
                await server.close();
            }
        },
    },
    'the page is smaller than 1.1 MB': {
        data: (folder) => writeDataset(folder, terrain(100), ONE_NODE),
        async run({ dist }) {
            const bytes = execFileSync('find', [dist, '-type', 'f', '-printf', '%s\n']).toString().trim().split('\n').reduce((sum, n) => sum + Number(n), 0);
            assert.ok(bytes < 1.1e6, `${bytes} bytes`);
        },
    },
};

// Without waiting: nothing becomes idle while the server is away.
async function pressOffline(page, key) {
    await page.keyboard.press(key);
    await page.waitForTimeout(400);
}
