// Live pictures: mote view --live in a browser, and clients that are none.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTimeout } from './browser.mjs';
import { grid, seenByCamera } from './hand.mjs';
import { frame, open } from './websocket.mjs';

const VIEW = 'view seq=1 size=320,200 eye=0,-10,5 target=0,0,0 up=0,0,1 fov=40 mode=points';
const notOurs = (problem) => !/willReadFrequently/.test(problem); // of pixels(), below
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// input: a file or folder, '-' for the pipe that is returned, null for none.
async function serve(mote, input, more = []) {
    const child = spawn(mote, ['view', '--live', ...(input === null ? [] : [input]), '--no-open', '--port', '0', '--for', '300', '-q', ...more], { stdio: [input === '-' ? 'pipe' : 'ignore', 'pipe', 'inherit'] });
    const [data] = await withTimeout(once(child.stdout, 'data'), 60000, 'mote view --live');
    return {
        url: String(data).trim(),
        pipe: child.stdin,
        end: async (signal = 'SIGINT') => {
            const ended = once(child, 'exit');
            child.kill(signal);
            return (await withTimeout(ended, 20000, 'the end of the server'))[0];
        },
    };
}

const wanted = (page, what) => page.waitForFunction(what, null, { timeout: 30000 });
const still = (page) => wanted(page, () => { const v = window.mote?.live; return v?.picture?.isStill && v.shownSeq === v.seq && !v.isDirty; });
const pixels = async (page) => Buffer.from(await page.evaluate(() => {
    const canvas = document.getElementById('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let text = '';
    for (let i = 0; i < data.length; i += 4) text += String.fromCharCode(data[i], data[i + 1], data[i + 2]);
    return btoa(text);
}), 'base64');

// The picture of the command that the page tells.
async function rendered(page, mote, folder) {
    const command = await page.evaluate(() => window.mote.live.command());
    execFileSync('bash', ['-c', command.replace(/^mote/, mote).replace(/-o view\.png$/, `-o ${join(folder, 'view.ppm')} -q`)]);
    return readFileSync(join(folder, 'view.ppm'));
}

// Waits until a pixel has a colour.
async function colour(page, rgb) {
    const text = rgb.join();
    for (let wait = 0; wait < 200; wait++) {
        const at = await pixels(page);
        const seen = new Set();
        for (let i = 0; i < at.length; i += 3) seen.add(`${at[i]},${at[i + 1]},${at[i + 2]}`);
        if (seen.has(text)) return;
        await sleep(50);
    }
    assert.fail(`no pixel of ${text}`);
}

// The same square as a frame of PLY.
function plyFrame(rgb, n = 60) {
    const head = `ply\nformat binary_little_endian 1.0\nelement vertex ${n * n}\n${['x', 'y', 'z'].map((a) => `property float ${a}\n`).join('')}${['red', 'green', 'blue'].map((c) => `property uchar ${c}\n`).join('')}end_header\n`;
    const body = Buffer.alloc(15 * n * n);
    for (let i = 0; i < n * n; i++) {
        body.writeFloatLE(i % n, 15 * i);
        body.writeFloatLE(Math.floor(i / n), 15 * i + 4);
        rgb.forEach((c, k) => (body[15 * i + 12 + k] = c));
    }
    return Buffer.concat([Buffer.from(head), body]);
}

// 120 x 120 points in a square, all of one colour.
const square = (folder, name, rgb) => {
    const rows = [];
    for (let i = 0; i < 120; i++) for (let j = 0; j < 120; j++) rows.push(`${i} ${j} ${i === 0 && j === 0 ? 1 : 0} ${i + j === 0 ? [1, 2, 3].join(' ') : rgb.join(' ')}`);
    execFileSync('bash', ['-c', `cat > '${join(folder, 'part')}' && mv '${join(folder, 'part')}' '${join(folder, name)}'`], { input: `x y z red green blue\n${rows.join('\n')}\n` });
};

export const LIVE_CHECKS = {
    'live: what a depth camera saw is shown from where it stood': {
        needsMote: true,
        async alone({ mote, folder, openPage }) {
            writeFileSync(join(folder, 'seen.xyz'), grid(120, (u, v) => seenByCamera(u, v)).map(({ position }) => `${position.join(' ')}\n`).join(''));
            const server = await serve(mote, join(folder, 'seen.xyz'));
            const { page } = await openPage(server.url);
            await still(page);
            const { up, yaw, pitch } = await page.evaluate(() => ({ up: window.mote.live.settings.up, ...window.mote.live.camera.get() }));
            assert.deepEqual([up, yaw, pitch], ['-y', 0, 0]);
            assert.equal(await server.end(), 0);
        },
    },
    'live: the still picture is that of mote render, in all modes and colours; a drag turns it; a point is told': {
        needsMote: true,
        async alone({ mote, folder, out, openPage }) {
            execFileSync(mote, ['gen', 'city', '-o', join(folder, 'city.las'), '-n', '60k', '-q']);
            const server = await serve(mote, join(folder, 'city.las'));
            const { page, problems } = await openPage(server.url);
            await still(page);
            await wanted(page, () => /cam=/.test(location.search)); // which rounds the camera
            await still(page);
            const same = async (settings) => {
                await page.evaluate((s) => window.mote.live.configure(s), settings);
                await still(page);
                const [mine, theirs] = [await pixels(page), await rendered(page, mote, folder)];
                assert.ok(mine.length > 100000 && mine.equals(theirs.subarray(-mine.length)), `${JSON.stringify(settings)}: not the picture of mote render`);
            };
            await same({});
            await same({ mode: 'average', color: 'height', map: 'viridis' });
            await same({ mode: 'surface', color: 'classification', edl: 0 });
            await same({ mode: 'points', show: 'depth', orthographic: true });
            await page.evaluate(() => window.mote.live.configure({ show: 'color', color: 'rgb', edl: '', orthographic: false }));
            await still(page);
            const before = await pixels(page);
            const box = await page.locator('#canvas').boundingBox();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            await page.mouse.move(x, y);
            await page.mouse.down();
            await page.mouse.move(x + 90, y, { steps: 6 });
            await page.mouse.up();
            await still(page);
            assert.ok(!before.equals(await pixels(page)), 'the drag turned it');
            await page.mouse.dblclick(x, y);
            await page.locator('#card').waitFor({ state: 'visible' });
            assert.match(await page.locator('#card-list').innerText(), /Classification/);
            await page.screenshot({ path: join(out, 'by-hand-live.png') });
            // A link to what is seen shows the same: camera and settings, on another page.
            await page.evaluate(() => window.mote.live.configure({ mode: 'average', color: 'height', map: 'magma', range: '218:240', edl: 0, orthographic: true }));
            await still(page);
            await wanted(page, () => /range=218,240/.test(location.search) && /color=height/.test(location.search));
            const other = await openPage(page.url());
            await still(other.page);
            await wanted(other.page, () => /cam=/.test(location.search));
            assert.ok((await pixels(other.page)).equals(await pixels(page)), 'the link shows another picture');
            assert.equal(await other.page.locator('#mode').inputValue(), 'average');
            assert.equal(await other.page.locator('#ramp').inputValue(), 'magma');
            await other.page.close();
            await page.close();
            assert.equal(await server.end(), 0);
            assert.deepEqual(problems.filter(notOurs), [], 'the console must stay quiet');
        },
    },
    'live: zoomed far in points are discs; what is measured are points of the cloud, by the tools of the page': { needsMote: true, async alone({ mote, folder, out, openPage }) {
        const rows = [];
        for (let i = 0; i < 60; i++) for (let j = 0; j < 60; j++) rows.push(`${(i / 4).toFixed(2)} ${(j / 4).toFixed(2)} ${i < 30 ? '0.00' : '2.00'} 250 250 250`);
        const file = join(folder, 'step.xyz');
        writeFileSync(file, `x y z red green blue\n${rows.join('\n')}\n`);
        const server = await serve(mote, file);
        const { page, problems } = await openPage(`${server.url}?mode=points&edl=0&background=black&color=rgb`);
        await still(page);
        await page.evaluate(() => { const v = window.mote.live; v.camera.set({ target: [3, 3, 0], yaw: 0, pitch: 1.2, distance: 10 }); v.changed(); });
        await still(page);
        assert.ok((await page.evaluate(() => window.mote.live.picture.pointPixels)) > 8, 'discs');
        assert.match(await page.evaluate(() => window.mote.live.command()), /--point-size /);
        const seen = await pixels(page);
        let lit = 0;
        for (let i = 0; i < seen.length; i += 3) lit += seen[i] > 100;
        assert.ok(lit > 0.5 * (seen.length / 3), `${lit} pixels of ${seen.length / 3}`);
        await page.evaluate(() => window.mote.live.fit());
        await still(page);
        const box = await page.locator('#canvas').boundingBox();
        const click = async (place) => {
            const [x, y] = await page.evaluate((p) => window.mote.live.onScreen(p), place);
            await page.mouse.click(box.x + x, box.y + y);
        };
        // A height: two points of the file, exactly.
        await page.keyboard.press('y');
        await click([2, 5, 0]);
        await wanted(page, () => document.querySelectorAll('#overlay circle.corner').length === 1);
        await click([12, 5, 2]);
        await page.locator('#marks li').waitFor();
        const [mark] = await page.evaluate(() => window.mote.live.marks.list);
        for (const p of mark.points) assert.ok(rows.some((row) => row.startsWith(p.map((c) => c.toFixed(2)).join(' '))), `${p} is no point of the file`);
        assert.match(await page.locator('#marks li').innerText(), /height\n2(\.0+)?\n/);
        await page.keyboard.press('Escape');
        // The attributes of a point.
        await page.keyboard.press('i');
        await click([5, 5, 0]);
        await page.locator('#card').waitFor({ state: 'visible' });
        assert.match(await page.locator('#card-list').innerText(), /Red\s+250/);
        await page.keyboard.press('Control+z');
        await wanted(page, () => document.querySelectorAll('#marks li').length === 1);
        assert.equal(await page.locator('#tools button').count(), 8, 'what needs all points is not offered');
        await page.screenshot({ path: join(out, 'by-hand-live-measure.png') });
        // The background, and a link to it.
        await page.locator('#background').selectOption('white');
        await still(page);
        await wanted(page, () => /background=white/.test(location.search));
        assert.deepEqual([...(await pixels(page)).subarray(0, 3)], [255, 255, 255]);
        await page.close();
        assert.equal(await server.end(), 0);
        assert.deepEqual(problems.filter(notOurs), [], 'the console must stay quiet');
    } },
    'live: dark colours are as bright as in mote render, and told once': { needsMote: true, async alone({ mote, folder, openPage }) {
        const rows = [];
        for (let i = 0; i < 80; i++) for (let j = 0; j < 80; j++) rows.push(`${i},${j},0,4000,1000,2000`, `${i},${j},1,1000,${i + j},7`);
        writeFileSync(join(folder, 'dark.csv'), `x,y,z,red,green,blue\n${rows.join('\n')}\n`);
        execFileSync(mote, ['convert', join(folder, 'dark.csv'), '-o', join(folder, 'dark.las'), '-q']);
        const server = await serve(mote, join(folder, 'dark.las'));
        const { page, problems } = await openPage(`${server.url}?mode=points&edl=0&color=rgb&background=black`);
        await still(page);
        assert.match(await page.locator('#said').innerText(), /13\.11 times brighter/);
        const brightest = async () => (await pixels(page)).reduce((most, v) => Math.max(most, v), 0);
        assert.equal(await brightest(), 204);
        await page.evaluate(() => window.mote.live.configure({ color: 'height' }));
        await still(page);
        await page.evaluate(() => window.mote.live.configure({ color: 'rgb', filters: { z: [0.5, 2] } }));
        await still(page);
        assert.equal(await brightest(), 51, 'what a filter leaves is as bright as before');
        assert.deepEqual(problems.filter(notOurs), []);
        await page.close();
        await server.end();
    } },
    'live: filters hide points from the picture and from the cursor; a link keeps them': { needsMote: true, async alone({ mote, folder, openPage }) {
        const rows = [];
        for (let i = 0; i < 80; i++) for (let j = 0; j < 80; j++) rows.push(`${i} ${j} 0 ${i < 40 ? 2 : 6} ${j}`, `${i} ${j} -9 9 ${j}`);
        const file = join(folder, 'classes.xyz');
        writeFileSync(file, `x y z classification intensity\n${rows.join('\n')}\n`);
        const server = await serve(mote, file);
        const { page, problems } = await openPage(`${server.url}?mode=points&edl=0&color=classification&background=black`);
        await still(page);
        await page.evaluate(() => { const v = window.mote.live; v.camera.set({ target: [40, 40, 0], yaw: 0, pitch: 1.57, distance: 150 }); v.changed(); });
        await still(page);
        const has = async (rgb) => { const at = await pixels(page); let n = 0; for (let i = 0; i < at.length; i += 3) n += rgb.every((c, k) => Math.abs(at[i + k] - c) < 3); return n; };
        const [ground, building, water] = [[0xa9, 0x79, 0x4c], [0xe8, 0x66, 0x3d], [0x2f, 0x86, 0xe0]];
        assert.ok((await has(ground)) > 1000 && (await has(building)) > 1000);
        const before = await has(water);
        await page.locator('#legend label', { hasText: 'Building' }).locator('input').uncheck();
        await still(page);
        assert.equal(await has(building), 0);
        assert.ok((await has(water)) > before + 1000, 'what lies behind is seen');
        assert.match(await page.locator('#filtered').innerText(), /no Building/);
        const told = await page.evaluate(() => { const v = window.mote.live; return v.ask(...v.onScreen([60, 40, -9])); });
        assert.equal(told.attributes.find(([name]) => name === 'classification')[1], '9');
        await page.evaluate(() => window.mote.live.configure({ color: 'intensity' }));
        await still(page);
        await page.locator('#high').fill('20');
        await page.locator('#high').press('Tab');
        await page.locator('#only').check();
        await still(page);
        await wanted(page, () => /filter=intensity:[\d.]+:20/.test(location.search) && /hide=6/.test(location.search));
        const other = await openPage(page.url());
        await still(other.page);
        assert.ok((await pixels(other.page)).equals(await pixels(page)), 'the link shows the same');
        await other.page.close();
        await page.locator('#canvas').focus();
        await page.keyboard.press('Shift+V');
        await page.evaluate(() => window.mote.live.configure({ color: 'classification' }));
        await still(page);
        assert.ok((await has(building)) > 1000);
        // What is no filter ends the connection.
        const live = new URL('live', server.url).href;
        for (const wrong of ['hide=256', 'hide=', 'hide=1,,2', 'keep=', 'keep=a:1', 'keep=a:2:1', 'keep=a:0:inf', 'keep=a:0:1;', `keep=${Array(5).fill('a:0:1').join(';')}`, 'keep=%0a:0:1']) {
            const client = await open(live);
            client.send(frame(`${VIEW} ${wrong}`));
            assert.equal(await withTimeout(client.closed, 10000, wrong), 1008, wrong);
        }
        const right = await open(live);
        right.send(frame(`${VIEW} keep=none%20there:0:1;height:-1:1 hide=0,255`));
        for (let wait = 0; wait < 200 && !right.messages.some((m) => m.opcode === 2); wait++) await sleep(50);
        assert.ok(right.messages.some((m) => m.opcode === 2));
        right.end();
        await page.close();
        assert.equal(await server.end(), 0);
        assert.deepEqual(problems.filter(notOurs), [], 'the console must stay quiet');
    } },
    'live: who is no page of ours is refused, and what is no message ends the connection': { needsMote: true, async alone({ mote, folder }) {
        square(folder, 'a.xyz', [200, 0, 0]);
        const server = await serve(mote, join(folder, 'a.xyz'));
        const live = new URL('live', server.url).href;
        assert.equal((await open(live, { Origin: 'http://example.org' })).status, 403);
        assert.equal((await open(live, { Origin: null })).status, 403);
        assert.equal((await open(live, { Host: 'example.org', Origin: 'http://example.org' })).status, 403);
        assert.equal((await open(live, { Upgrade: null, Origin: 'http://example.org' })).status, 403);
        assert.equal((await open(live, { Upgrade: null, Origin: null })).status, 200, 'a page of ours that asks plainly');
        const ended = async (...frames) => {
            const client = await open(live);
            assert.equal(client.status, 101);
            for (const f of frames) client.send(f);
            return withTimeout(client.closed, 10000, 'the end of a wrong client');
        };
        assert.equal(await ended(frame('hello')), 1008);
        assert.equal(await ended(frame(`${VIEW} size=1,1`)), 1008);
        assert.equal(await ended(frame(VIEW.replace('320,200', '4097,1'))), 1008);
        assert.equal(await ended(frame(`${VIEW} color=${'a'.repeat(2000)}`)), 1008);
        assert.equal(await ended(frame('x'.repeat(3000000))), 1008);
        assert.equal(await ended(frame(VIEW, { opcode: 2 })), 1008);
        assert.equal(await ended(frame(VIEW, { final: false })), 1008);
        // What comes faster than it is read may cost the reason, as the connection is reset.
        assert.ok([0, 1008].includes(await ended(...Array(2000).fill(frame('shown frame=0')))));
        const liar = await open(live);
        liar.send(frame('x', { lie: 2 ** 30 }));
        // Twenty at once, of which each gets its own picture; two that never say that they saw one get no more than two.
        const all = await Promise.all(Array.from({ length: 20 }, () => open(live)));
        all.forEach((c, i) => c.send(frame(VIEW.replace('seq=1', `seq=${i + 1}`))));
        for (let wait = 0; wait < 200 && !all.every((c) => c.messages.some((m) => m.opcode === 2)); wait++) await sleep(50);
        all.forEach((c, i) => assert.equal(c.messages.find((m) => m.opcode === 2)?.body.readUInt32LE(8), i + 1));
        for (let i = 0; i < 20; i++) all[0].send(frame(VIEW.replace('seq=1', `seq=${100 + i}`)));
        await sleep(300);
        assert.ok(all[0].messages.filter((m) => m.opcode === 2).length <= 2, 'pictures are not queued');
        for (const c of all.slice(1)) c.end();
        assert.equal(await server.end(), 0);
        assert.equal(await all[0].closed, 1001);
    } },
    'live: on other addresses than this machine a token is needed': { needsMote: true, async alone({ mote, folder }) {
        square(folder, 'a.xyz', [200, 0, 0]);
        const server = await serve(mote, join(folder, 'a.xyz'), ['--host', '0.0.0.0']);
        const url = new URL(server.url);
        assert.match(url.search, /^\?token=[0-9a-f]{32}$/);
        const live = (token) => open(new URL(`live${token}`, server.url).href);
        assert.equal((await live('')).status, 403);
        assert.equal((await live(`?token=${'0'.repeat(32)}`)).status, 403);
        assert.equal((await fetch(new URL('live', server.url))).status, 403);
        assert.equal((await fetch(new URL(`live${url.search}`, server.url))).status, 200);
        const right = await live(url.search);
        assert.equal(right.status, 101);
        right.end();
        assert.equal(await server.end('SIGTERM'), 0);
    } },
    'live: a folder of frames that changes, and a server that dies and comes back': { needsMote: true, async alone({ mote, folder, openPage }) {
        const frames = join(folder, 'frames');
        mkdirSync(frames);
        square(frames, 'f_9.xyz', [200, 0, 0]);
        const server = await serve(mote, frames);
        const { page, problems } = await openPage(server.url);
        await still(page);
        await page.evaluate(() => window.mote.live.configure({ mode: 'points', edl: 0 }));
        await colour(page, [200, 0, 0]);
        square(frames, 'f_10.xyz', [0, 150, 0]);
        await colour(page, [0, 150, 0]);
        assert.match(await page.locator('#title').innerText(), /f_10/);
        square(frames, 'f_10.xyz', [0, 0, 250]);
        await colour(page, [0, 0, 250]);
        const { port } = new URL(server.url);
        await server.end();
        await page.locator('#said', { hasText: 'not reached' }).waitFor();
        const again = await serve(mote, frames, ['--port', port]);
        await page.locator('#said').waitFor({ state: 'hidden' });
        await page.evaluate(() => window.mote.live.configure({ color: 'height' }));
        await still(page);
        await again.end();
        // The page asks for its server while that ends: it may still hear a 503, half an answer, or nothing.
        const ofTheEnd = /WebSocket|ERR_CONNECTION|ERR_SOCKET|ERR_EMPTY_RESPONSE|ERR_CONTENT_LENGTH_MISMATCH|ERR_INCOMPLETE|status of 503/;
        assert.deepEqual(problems.filter(notOurs).filter((p) => !ofTheEnd.test(p)), [], 'nothing else went wrong');
        await page.close();
    } },
    'live: a pipe of frames, whose end and whose nonsense are said': { needsMote: true, async alone({ mote, openPage }) {
        const server = await serve(mote, '-');
        const { page, problems } = await openPage(`${server.url}?mode=points&edl=0&color=rgb`);
        await page.locator('#said', { hasText: 'Waiting for the first cloud' }).waitFor();
        server.pipe.write(plyFrame([250, 0, 0]));
        await colour(page, [250, 0, 0]);
        // Two at once, the last of which counts, and half of a third.
        const third = plyFrame([0, 0, 250]);
        server.pipe.write(Buffer.concat([plyFrame([9, 9, 9]), plyFrame([0, 150, 0]), third.subarray(0, 1000)]));
        await colour(page, [0, 150, 0]);
        assert.match(await page.locator('#title').innerText(), /Frame 3/);
        server.pipe.write(third.subarray(1000));
        await colour(page, [0, 0, 250]);
        server.pipe.write('ply\nformat ascii 1.0\nelement vertex many\nproperty float x\nend_header\n');
        await page.locator('#said', { hasText: 'Frame 5 of the pipe cannot be read' }).waitFor();
        await colour(page, [0, 0, 250]);
        server.pipe.on('error', () => {}); // it is read no more
        server.pipe.end();
        await page.close();
        assert.equal(await server.end(), 0);
        assert.deepEqual(problems.filter(notOurs), [], 'the console must stay quiet');
    } },
    'live: a photon map fills up': { needsMote: true, async alone({ mote, openPage }) {
        const server = await serve(mote, null, ['--photons', 'cornell', '-n', '30000']);
        const { page, problems } = await openPage(server.url);
        await page.locator('#title', { hasText: '30000 of 30000 photons' }).waitFor();
        await still(page);
        const points = Number((await page.locator('#subtitle').innerText()).replace(/ points.*/, '').replaceAll(/\D/g, ''));
        assert.ok(points > 30000 && points < 100000, `${points} photons were stored`);
        assert.ok((await page.evaluate(() => window.mote.live.scene.version)) > 5, 'it grew step by step');
        assert.ok(!(await page.locator('#copy').isVisible()), 'no file, no command');
        await page.evaluate(() => window.mote.live.configure({ color: 'bounce' }));
        await still(page);
        assert.match(await page.locator('#legend').innerText(), /Bounce/);
        await page.close();
        assert.equal(await server.end(), 0);
        assert.deepEqual(problems.filter(notOurs), [], 'the console must stay quiet');
    } },
};
