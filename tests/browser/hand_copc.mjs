// COPC files read by the page itself, piece by piece.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { idle, stats } from './checks.mjs';
import { BARE, bare, differentPixels, makeCity, PLAIN, withQuery } from './hand.mjs';
import { startServer } from './servers.mjs';
import { startStatic } from './static_server.mjs';

const everyPoint = (page) => page.evaluate(() => {
    window.mote.setMaxError(0);
    window.mote.setPointSize(1, false);
});

// A server on another port is another origin. allowed: whether pages of others may read.
function startForeign(folder, allowed) {
    const headers = allowed ? { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'Range' } : {};
    const server = createServer((request, response) => {
        if (request.method === 'OPTIONS') return response.writeHead(204, headers).end();
        let bytes;
        try {
            bytes = readFileSync(join(folder, request.url.replace(/\?.*/, '').slice(1)));
        } catch {
            return response.writeHead(404, headers).end();
        }
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
        const part = range ? bytes.subarray(Number(range[1]), Number(range[2]) + 1) : bytes;
        return response.writeHead(range ? 206 : 200, { ...headers, 'Content-Length': part.length }).end(part);
    });
    return new Promise((done) => server.listen(0, '127.0.0.1', () => done({
        url: `http://127.0.0.1:${server.address().port}/`,
        close: () => new Promise((closed) => {
            server.closeAllConnections();
            server.close(closed);
        }),
    })));
}

const says = (page, pattern) => page.locator('#messages').getByText(pattern).first().waitFor({ timeout: 15000 });

// Changes bytes of a copy of the file: [[offset, type, value], …].
function broken(folder, name, changes) {
    const bytes = Buffer.from(readFileSync(join(folder, 'city.copc.laz')));
    for (const [at, write, value] of changes(bytes)) bytes[write](value, at);
    writeFileSync(join(folder, name), bytes);
}
const rootPage = (bytes) => Number(bytes.readBigUInt64LE(429 + 40));

const HOSTILE = [
    ['a cube that is none', /not made of finite numbers/, () => [[429, 'writeDoubleLE', NaN]]],
    ['a hierarchy behind the end', /ends early/, (b) => [[429 + 40, 'writeBigUInt64LE', BigInt(b.length + 1000)]]],
    ['a page of half an entry', /not entries of 32/, () => [[429 + 48, 'writeBigUInt64LE', 33n]]],
    ['a page that leads to itself', /does not hold the node|leads back to itself/, (b) => [[rootPage(b) + 28, 'writeInt32LE', -1]]],
    ['more points than the file has', /claims 2000000000 points/, (b) => [[rootPage(b) + 28, 'writeInt32LE', 2000000000]]],
    ['a chunk that lies', /node r: .*points/, (b) => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [Number(b.readBigUInt64LE(rootPage(b) + 16)) + 34 + 4 * i, 'writeUInt32LE', 0xfffffff0])],
    ['points of no known format', /formats 6, 7 and 8/, () => [[104, 'writeUInt8', 0x83]]],
    ['a LAZ file without an octree', /not COPC/, () => [[377, 'writeUInt8', 0]]],
    ['no LAS at all', /not LAS/, () => [[0, 'writeUInt8', 0]]],
];

export const COPC_CHECKS = {
    'a COPC file looks as the folder made of the same points does, in every colour': {
        needsMote: true,
        viewport: { width: 480, height: 400 },
        data(folder, mote) {
            makeCity(mote, folder, 'city.mote');
            return makeCity(mote, folder, 'city.copc.laz');
        },
        async run({ page, mote, folder, context, out, problems }) {
            assert.match(page.url(), /data=data\/city\.copc\.laz/);
            assert.equal(await page.locator('#title').innerText(), 'city');
            await page.screenshot({ path: join(out, 'by-hand-copc.png') });
            const server = await startServer(mote, join(folder, 'city.mote'));
            const other = await context.newPage();
            try {
                await other.setViewportSize(page.viewportSize());
                await other.goto(withQuery(server.url, PLAIN));
                await other.addStyleTag({ content: BARE });
                await idle(other);
                for (const p of [page, other]) await everyPoint(p);
                const modes = await other.evaluate(() => window.mote.colorModes);
                const own = await page.evaluate(() => window.mote.colorModes);
                assert.deepEqual(modes.filter((m) => !own.includes(m)), [], 'colours that the COPC file does not offer');
                for (const mode of ['rgb', 'intensity', 'return number', 'scan angle', 'gps-time']) {
                    for (const p of [other, page]) await p.evaluate((m) => window.mote.setColorMode(m), mode);
                    const range = await other.evaluate(() => ['low', 'high'].map((id) => document.getElementById(id).valueAsNumber));
                    for (const p of [other, page]) {
                        if (range.every(Number.isFinite)) await p.evaluate((r) => window.mote.setRange(r), range);
                        await idle(p);
                    }
                    assert.equal((await stats(page)).pointsDrawn, (await stats(other)).pointsDrawn);
                    const different = differentPixels(await bare(page), await bare(other));
                    assert.ok(different < 60, `${mode}: ${different} pixels differ`); // points at the same depth
                }
            } finally {
                await other.close();
                await server.close();
            }
            assert.deepEqual(problems, []);
        },
    },
    'only the parts of a COPC file that are needed are read, and nothing else of its folder is served': {
        needsMote: true,
        data(folder, mote) {
            const path = makeCity(mote, folder, 'a & b #1.copc.laz', '300k');
            copyFileSync(path, join(folder, 'secret.laz'));
            return path;
        },
        async run({ page, url, folder }) {
            assert.equal(await page.locator('#title').innerText(), 'a & b #1');
            const read = await page.evaluate(() => performance.getEntriesByType('resource')
                .filter((e) => e.name.endsWith('.copc.laz')).reduce((sum, e) => sum + e.transferSize, 0));
            const { size } = statSync(join(folder, 'a & b #1.copc.laz'));
            // 0.73 on a quiet machine; where frames are slow, one part more comes meanwhile: 0.83
            assert.ok(read > 10000 && read < size * 0.9, `${read} of ${size} bytes were read`);
            for (const name of ['secret.laz', 'city.las', '..%2Fsecret.laz', '', 'a%20&%20b%20%231.copc.laz/../secret.laz'])
                assert.ok([403, 404, 400].includes(await page.evaluate(async (u) => (await fetch(u)).status, new URL(`/data/${name}`, url).href)), name);
        },
        loud: true,
    },
    'data of another server is shown where it allows that, and explained where it does not': {
        needsMote: true,
        data: (folder, mote) => makeCity(mote, folder, 'city.copc.laz'),
        loud: true,
        async run({ page, url, folder }) {
            const [open, closed] = [await startForeign(folder, true), await startForeign(folder, false)];
            try {
                const base = url.replace(/\?.*/, '');
                await page.goto(`${base}?${PLAIN}&data=${open.url}city.copc.laz?signature=1`);
                await idle(page);
                assert.ok((await stats(page)).pointsDrawn > 10000);
                assert.match(await page.locator('#facts').innerText(), /127\.0\.0\.1:\d+/); // where it comes from
                await page.goto(`${base}?${PLAIN}&data=${closed.url}city.copc.laz`);
                await says(page, /does not allow pages of http.*Access-Control-Allow-Origin/);
                await closed.close();
                await page.goto(`${base}?${PLAIN}&data=${closed.url}city.copc.laz&again`);
                await says(page, /does not answer/);
                await page.goto(`${base}?${PLAIN}&data=file:///etc/passwd`);
                await says(page, /not from file: addresses/);
            } finally {
                await open.close();
            }
        },
    },
    'hostile COPC files are told in words': {
        needsMote: true,
        data: (folder, mote) => makeCity(mote, folder, 'city.copc.laz'),
        noIdle: true,
        loud: true,
        async run({ page, folder }) {
            const server = await startStatic(folder);
            try {
                for (const [what, pattern, changes] of HOSTILE) {
                    broken(folder, 'x.copc.laz', changes);
                    await page.goto(`${server.url}?${PLAIN}&data=data/x.copc.laz`);
                    await says(page, pattern).catch(async () => assert.fail(`${what}: ${await page.locator('#messages').innerText()}`));
                    if (!/chunk/.test(what)) await page.getByText('Nothing to show.').waitFor({ timeout: 5000 }); // one node: the others are shown
                }
            } finally {
                await server.close();
            }
        },
    },
};
