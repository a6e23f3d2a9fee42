// The pages in Debian's Firefox: what a visitor does first, in the viewer and live. Ends with 1 if anything is wrong.
//   node tests/browser/firefox.mjs --mote BINARY [--out DIR]
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { missing, withFirefox } from './bidi.mjs';
import { withTimeout } from './browser.mjs';
import { makeCity } from './hand.mjs';
import { readPng } from './png.mjs';

const POINTS = 40000;
const MIDDLE = [400, 350];

const argument = (name, otherwise) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : otherwise);
const mote = resolve(argument('--mote'));
const out = argument('--out', 'browser-test');

async function serve(...args) {
    const child = spawn(mote, ['view', ...args, '--no-open', '--port', '0', '--for', '300', '-q'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [data] = await withTimeout(once(child.stdout, 'data'), 60000, 'mote view');
    return { url: String(data).trim(), end: () => child.kill('SIGTERM') };
}

const idle = (page) => page.evaluate('window.mote.idle()');
const until = async (page, what) => {
    for (let i = 0; i < 300; i++) {
        if (await page.evaluate(what)) return;
        await new Promise((done) => setTimeout(done, 100));
    }
    assert.fail(`it never came true: ${what}`);
};

// How many pixels in the middle of the page have colours of the ramp and not of the background.
async function coloured(page, name) {
    const bytes = await page.screenshot();
    writeFileSync(join(out, `firefox-${name}.png`), bytes);
    const png = readPng(bytes);
    let count = 0;
    for (let y = 150; y < 550; y++) for (let x = 150; x < 650; x++) {
        const rgb = png.at(x, y);
        count += Math.max(...rgb) - Math.min(...rgb) > 40;
    }
    return count;
}

async function checkViewer(page, folder, file) {
    const server = await serve(join(folder, file));
    try {
        await page.goto(`${server.url}${server.url.includes('?') ? '&' : '?'}background=black&edl=0&color=height&error=0.3`);
        await until(page, 'Boolean(window.mote)');
        await page.evaluate('window.mote.ready.then(() => 1)');
        await idle(page);
        const stats = await page.evaluate('window.mote.stats()');
        assert.equal(await page.evaluate('window.mote.metadata().points'), POINTS);
        assert.ok(stats.pointsDrawn > POINTS / 2, `${stats.pointsDrawn} points are drawn`);
        assert.ok((await coloured(page, file)) > 5000, 'nothing is seen');
        await page.key('t');
        await idle(page);
        assert.ok((await page.evaluate('window.mote.camera.pitch')) > 1.5, 'T looks from above');
        const { yaw } = await page.evaluate('window.mote.camera');
        await page.drag(MIDDLE, [MIDDLE[0] + 120, MIDDLE[1]]);
        await idle(page);
        assert.notEqual(await page.evaluate('window.mote.camera.yaw'), yaw, 'a drag turns');
        await page.key('d');
        await page.click(MIDDLE);
        await page.click([MIDDLE[0] + 60, MIDDLE[1] + 40]);
        await page.key('\uE007');
        assert.equal(await page.evaluate('window.mote.marks.length'), 1, 'a distance is measured');
        assert.deepEqual(page.problems(), [], 'the console must stay quiet');
    } finally {
        server.end();
    }
}

// What a click would take is shown; circles, cube, needle and scale bar are there; the page speaks German when it is told to.
async function checkFeel(page, folder, file) {
    const server = await serve(join(folder, file));
    const press = (key, shiftKey) => page.evaluate(`window.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', shiftKey: ${shiftKey}, bubbles: true }))`);
    const count = (selector) => page.evaluate(`document.querySelectorAll('${selector}').length`);
    try {
        await page.goto(server.url);
        await page.evaluate("window.mote.ready.then(() => localStorage.setItem('mote.language', 'de'))");
        await page.goto(`${server.url}${server.url.includes('?') ? '&' : '?'}background=black&edl=0&color=height&error=0.3`);
        await until(page, 'Boolean(window.mote)');
        await page.evaluate('window.mote.ready.then(() => 1)');
        await idle(page);
        assert.equal(await page.evaluate('document.documentElement.lang'), 'de');
        assert.equal(await page.evaluate("document.querySelector('#h-colour').textContent"), 'Farbe');
        await page.key('t');
        await idle(page);
        await press('O', true);
        await page.click(MIDDLE);
        await until(page, "document.querySelectorAll('#overlay .snap').length === 1");
        assert.match(await page.evaluate("document.querySelector('#draft').textContent"), /Punkte: 1 von 3/);
        await page.click([MIDDLE[0] + 60, MIDDLE[1] + 40]);
        await until(page, "document.querySelectorAll('#overlay line.mark').length > 0");
        await page.click([MIDDLE[0] - 50, MIDDLE[1] + 40]);
        assert.ok((await page.evaluate('window.mote.figures[0].figures.radius')) > 0, 'a circle is measured');
        assert.equal(await count('#cube .face'), 6);
        assert.match(await page.evaluate("document.querySelector('#s-scale').textContent"), /^[\d.]+\sm$/);
        await press('Escape', false);
        writeFileSync(join(out, 'firefox-feel.png'), await page.screenshot());
        await page.evaluate("localStorage.removeItem('mote.language')");
        assert.deepEqual(page.problems(), [], 'the console must stay quiet');
    } finally {
        server.end();
    }
}

// Volumes as the command has them, to the last digit, of corners with heights and without.
async function checkFigures(page, folder, file) {
    const { min, max } = JSON.parse(execFileSync(mote, ['info', join(folder, 'city.las'), '--json', '-q']));
    const at = (u, v) => [min[0] + u * (max[0] - min[0]), min[1] + v * (max[1] - min[1]), min[2]].map((c) => Number(c.toFixed(3)));
    const corners = [at(0.2, 0.15), at(0.8, 0.2), at(0.7, 0.75), at(0.5, 0.4), at(0.25, 0.8)];
    const truths = [3, 2].map((count) => {
        writeFileSync(join(folder, 'polygon.geojson'), JSON.stringify({ type: 'Polygon', coordinates: [corners.map((p) => p.slice(0, count))] }));
        return JSON.parse(execFileSync(mote, ['measure', join(folder, 'city.las'), '--volume', join(folder, 'polygon.geojson'), '--json', '-q']));
    });
    const server = await serve(join(folder, file));
    try {
        const marks = [[], ['f']].map((flat) => `mark=${encodeURIComponent(['volume', ...flat, ...corners.map((p) => p.join())].join(';'))}`).join('&');
        await page.goto(`${server.url}${server.url.includes('?') ? '&' : '?'}edl=0&budget=1000&${marks}`);
        await until(page, "window.mote?.figures?.length === 2 && window.mote.figures.every(({ state }) => state === 'done')");
        const all = await page.evaluate('window.mote.figures');
        truths.forEach((truth, i) => {
            for (const name of ['above', 'below', 'area', 'points', 'empty']) assert.equal(all[i].figures[name], truth[name], `${name} of ${['heights', 'no heights'][i]}`);
        });
        writeFileSync(join(out, 'firefox-figures.png'), await page.screenshot());
    } finally {
        server.end();
    }
}

async function checkLive(page, folder) {
    const server = await serve('--live', join(folder, 'city.las'));
    try {
        const rested = 'Boolean(window.mote?.live?.picture?.isStill && window.mote.live.shownSeq === window.mote.live.seq)';
        await page.goto(`${server.url}?color=height&mode=points`);
        await until(page, rested);
        assert.ok((await coloured(page, 'live')) > 5000, 'nothing is seen');
        const { yaw } = await page.evaluate('window.mote.live.camera.get()');
        await page.drag(MIDDLE, [MIDDLE[0] + 120, MIDDLE[1]]);
        await until(page, rested);
        assert.notEqual((await page.evaluate('window.mote.live.camera.get()')).yaw, yaw, 'a drag turns');
        assert.deepEqual(page.problems(), [], 'the console must stay quiet');
    } finally {
        server.end();
    }
}

if (missing.length > 0) {
    console.log(`skipped: ${missing.join(', ')} not there (Debian: firefox-esr xvfb libgl1-mesa-dri libegl1)`);
    process.exit(0);
}
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'mote-firefox-data-'));
let failed = 0;
try {
    makeCity(mote, folder, 'city.copc.laz');
    execFileSync(mote, ['lod', join(folder, 'city.las'), join(folder, 'city.mote'), '--encoding', 'brotli', '-q']);
    await withFirefox(async (page, version) => {
        console.log(`Firefox ${version}`);
        for (const [name, work] of [['a folder, brotli', () => checkViewer(page, folder, 'city.mote')], ['COPC', () => checkViewer(page, folder, 'city.copc.laz')], ['feel', () => checkFeel(page, folder, 'city.mote')], ['figures of a folder', () => checkFigures(page, folder, 'city.mote')], ['figures of COPC', () => checkFigures(page, folder, 'city.copc.laz')], ['live', () => checkLive(page, folder)]]) {
            const begin = Date.now();
            await withTimeout(work(), 90000, name).then(() => console.log(`  ok    ${name} (${Date.now() - begin} ms)`), (error) => {
                failed++;
                console.log(`  FAIL  ${name}: ${error.message}`);
            });
        }
    });
} finally {
    rmSync(folder, { recursive: true, force: true });
}
console.log(failed === 0 ? 'all well' : `${failed} failures`);
process.exit(failed === 0 ? 0 : 1);
