// Several clouds in one picture, files dropped on it, and the exported site.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { idle, stats } from './checks.mjs';
import { bare, BARE, differentPixels, grid, lit, makeCity, ONE_NODE, PLAIN, POSITION, press } from './hand.mjs';
import { startStatic } from './static_server.mjs';
import { DEFAULT_ATTRIBUTES, writeDataset } from '../viewer/make_dataset.mjs';

const RGB = DEFAULT_ATTRIBUTES.find((a) => a.name === 'rgb');
// Boards of 10 m: red at the origin, green 12 m east of it, in coordinates with another offset and scale.
const board = (folder, rgb, options) => {
    mkdirSync(folder, { recursive: true });
    const unit = 1 / options.scale[0];
    writeDataset(folder, grid(80, (u, v) => [u * 10 * unit, v * 10 * unit, 0], (i) => ({ rgb, intensity: i * 10 })), { ...ONE_NODE, attributes: [POSITION, RGB, DEFAULT_ATTRIBUTES[1]], ...options });
};
const count = ({ colours }, test) => [...colours].reduce((sum, [key, n]) => sum + (test(key.split(',').map(Number)) ? n : 0), 0);
const isRed = ([r, g, b]) => r > 200 && g < 30 && b < 30;
const isGreen = ([r, g, b]) => g > 200 && r < 30 && b < 30;

// Drops a file of the disk on the page.
export async function dropFile(page, path, name) {
    const transfer = await page.evaluateHandle(([base64, fileName]) => {
        const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const data = new DataTransfer();
        data.items.add(new File([bytes], fileName));
        return data;
    }, [readFileSync(path).toString('base64'), name]);
    await page.dispatchEvent('#canvas', 'dragover', { dataTransfer: transfer });
    await page.dispatchEvent('#canvas', 'drop', { dataTransfer: transfer });
}

// Whole files only, as simple servers send them.
function startWithoutRange(folder) {
    const server = createServer((request, response) => {
        const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
        try {
            const bytes = readFileSync(join(folder, path === '/' ? 'index.html' : path));
            const type = { html: 'text/html', js: 'text/javascript', css: 'text/css' }[/[^.]*$/.exec(path === '/' ? 'html' : path)[0]] ?? 'application/octet-stream';
            response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes);
        } catch {
            response.writeHead(404).end();
        }
    });
    return new Promise((done) => server.listen(0, '127.0.0.1', () => done({
        url: `http://127.0.0.1:${server.address().port}/`,
        close: () => new Promise((closed) => {
            server.closeAllConnections();
            server.close(closed);
        }),
    })));
}

export const CLOUD_CHECKS = {
    'several clouds: shown, hidden, each with its colours and filters, in a link': {
        isSite: true,
        data(folder) {
            board(folder, [65535, 0, 0], { scale: [0.001, 0.001, 0.001], offset: [500000, 5400000, 100] });
            board(join(folder, 'second'), [0, 65535, 0], { scale: [0.01, 0.01, 0.01], offset: [500012, 5400000, 100] });
        },
        query: 'size=3&sizing=fixed',
        async run({ page, out }) {
            await page.evaluate(() => window.mote.setColorMode('rgb'));
            await page.locator('#clouds-section summary').click();
            await page.locator('#cloud-address').fill('data/second/');
            await page.keyboard.press('Enter');
            await page.locator('#clouds li').nth(1).waitFor();
            await page.locator('#clouds .name').nth(1).click();
            await page.locator('#mode').selectOption('rgb');
            await page.locator('#canvas').focus();
            await press(page, 't');
            const seen = await lit(page);
            const [red, green] = [count(seen, isRed), count(seen, isGreen)];
            assert.ok(red > 5000 && Math.abs(red / green - 1) < 0.1, `${red} red and ${green} green pixels`);
            assert.ok(Math.abs(seen.width / seen.height - 2.2) < 0.1, `${seen.width} x ${seen.height} pixels`); // 22 x 10 m
            assert.equal((await stats(page)).pointsDrawn, 2 * 6400);
            // A filter of the second cloud leaves the first one alone.
            await page.locator('#filter-add').selectOption('intensity');
            await page.locator('.filter input').nth(1).fill('395');
            await page.keyboard.press('Enter');
            await idle(page);
            assert.equal((await stats(page)).pointsDrawn, 6400 + 3200);
            // A point of the second cloud, in its own coordinates.
            await press(page, 'i');
            const [x, y] = await page.evaluate(() => window.mote.project([500012 + 10 * 10 / 79, 5400000 + 40 * 10 / 79, 100]));
            const box = await page.locator('#canvas').boundingBox();
            await page.mouse.click(box.x + x, box.y + y);
            await page.getByText('500013.27').first().waitFor();
            await page.keyboard.press('Escape');
            await page.locator('#clouds input[type=checkbox]').first().click();
            await idle(page);
            const second = await lit(page);
            assert.ok(count(second, isRed) === 0 && count(second, isGreen) > 2000);
            const link = await page.evaluate(() => window.mote.link());
            await idle(page);
            const before = await bare(page);
            await page.goto(link);
            await page.addStyleTag({ content: BARE });
            await idle(page);
            assert.equal(differentPixels(before, await bare(page)), 0, link);
            assert.equal(await page.locator('#title').innerText(), 'test');
            await page.locator('#clouds input[type=checkbox]').first().click();
            await idle(page);
            await page.screenshot({ path: join(out, 'by-hand-clouds.png') });
            await page.locator('#clouds .remove').click();
            await idle(page);
            assert.equal((await stats(page)).pointsDrawn, 6400);
            await page.locator('#clouds-section summary').click();
            await page.locator('#cloud-address').fill('nothere.copc.laz');
            await page.keyboard.press('Enter');
        },
        loud: true, // what is not there is said in the console as well
    },
    'a COPC file dropped on the page is shown, others are converted by the server': {
        needsMote: true,
        loud: true, // what is refused
        data(folder, mote) {
            makeCity(mote, folder, 'city.copc.laz');
            board(folder, [65535, 0, 0], { scale: [0.001, 0.001, 0.001], offset: [500000, 5400000, 100] });
        },
        async run({ page, folder }) {
            await dropFile(page, join(folder, 'city.copc.laz'), 'from the desktop.copc.laz');
            await page.locator('#clouds li').nth(1).waitFor();
            await idle(page);
            assert.match(await page.locator('#clouds').innerText(), /from the desktop/);
            assert.ok((await stats(page)).pointsDrawn > 10000);
            assert.ok(!(await page.evaluate(() => window.mote.link())).includes('dropped'));
            // Any other cloud is converted by the server; what is none, is said.
            await dropFile(page, join(folder, 'city.las'), 'a scan, "quoted".las');
            await page.locator('#clouds li').nth(2).waitFor();
            await idle(page);
            assert.match(await page.locator('#title').innerText(), /a scan, "quoted"/);
            assert.match(await page.evaluate(() => window.mote.link()), /data=data2\//);
            await dropFile(page, join(folder, 'metadata.json'), 'text.ply');
            await page.locator('#messages').getByText(/text\.ply: it cannot be shown: text\.ply: /).waitFor();
            // What there is to say of one that is converted, too.
            writeFileSync(join(folder, 'rows.ply'), 'ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n500000 5400000 1\n500001 5400000 2\n7 8 9\n');
            await dropFile(page, join(folder, 'rows.ply'), 'rows.ply');
            await page.locator('#messages').getByText(/^rows\.ply: 1 rows behind the last element are left out$/).waitFor();
            assert.deepEqual(await page.evaluate(async () => [
                (await fetch('convert/x.las', { method: 'POST' })).status, (await fetch('data/metadata.json', { method: 'PUT', body: 'x' })).status,
            ]), [405, 405]);
        },
    },
    'the exported site works on a plain file server, with ranges and without': {
        needsMote: true,
        data(folder, mote) {
            makeCity(mote, folder, 'city.mote');
            return makeCity(mote, folder, 'my city.copc.laz');
        },
        noIdle: true,
        loud: true, // the first address has no data
        async run({ page, folder, mote, out }) {
            for (const input of ['city.mote', 'my city.copc.laz']) {
                const site = join(folder, `site of ${input}`);
                execFileSync(mote, ['view', join(folder, input), '--export', site, '-q'], { env: { ...process.env, MOTE_VIEWER: '' } });
                for (const start of [() => startStatic(join(site, 'data'), { dist: site }), () => startWithoutRange(site)]) {
                    const server = await start();
                    try {
                        await page.goto(`${server.url}?${PLAIN}`);
                        await idle(page);
                        assert.ok((await stats(page)).pointsDrawn > 10000, input);
                        assert.equal(await page.locator('.message').count(), 0);
                    } finally {
                        await server.close();
                    }
                }
            }
            await page.screenshot({ path: join(out, 'by-hand-site.png') });
        },
    },
};
