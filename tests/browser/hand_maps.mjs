// Maps with the cloud: vectors draped over the points, planes that mote found, and a basemap of the address that is given.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { idle, stats } from './checks.mjs';
import { lit, PLAIN, withQuery } from './hand.mjs';
import { dropFile } from './hand_clouds.mjs';
import { slope } from './hand_marks.mjs';

const [EAST, NORTH] = [500000, 5400000];
const flat = (x, y) => [EAST + x, NORTH + y];
const feature = (type, coordinates, properties = {}) => ({ type: 'Feature', geometry: { type, coordinates }, properties });

// A picture of one colour.
function tile([r, g, b]) {
    const crc = (bytes) => {
        let c = -1;
        for (const byte of bytes) {
            c ^= byte;
            for (let k = 0; k < 8; k++) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0);
        }
        return (c ^ -1) >>> 0;
    };
    const chunk = (type, data) => {
        const body = Buffer.concat([Buffer.from(type), data]);
        const out = Buffer.alloc(body.length + 8);
        out.writeUInt32BE(data.length, 0);
        body.copy(out, 4);
        out.writeUInt32BE(crc(body), body.length + 4);
        return out;
    };
    const head = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0]);
    const rows = Buffer.concat(Array.from({ length: 8 }, () => Buffer.from([0, ...Array.from({ length: 8 }, () => [r, g, b]).flat()])));
    return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

const like = ([r, g, b], seen) => [...seen.colours].reduce((sum, [key, n]) => {
    const c = key.split(',').map(Number);
    return sum + (Math.max(Math.abs(c[0] - r), Math.abs(c[1] - g), Math.abs(c[2] - b)) < 12 ? n : 0);
}, 0);

export const MAPS_CHECKS = {
    'vectors are draped over the points; a basemap is asked for only at the address that is given': {
        data: slope,
        query: 'color=height&ramp=grey',
        async run({ page, folder, out, problems }) {
            const asked = [];
            page.on('request', (request) => new URL(request.url()).hostname !== '127.0.0.1' && asked.push(request.url()));
            const give = (name, json) => {
                writeFileSync(join(folder, name), typeof json === 'string' ? json : JSON.stringify(json));
                return page.locator('#overlay-file').setInputFiles(join(folder, name));
            };
            await give('roads.geojson', { type: 'FeatureCollection', features: [feature('LineString', [flat(1, 1), flat(19, 1), flat(19, 19)]), feature('MultiPolygon', [[[flat(5, 5), flat(12, 5), flat(12, 12), flat(5, 5)]]]), feature('Point', flat(15, 10))] });
            await page.locator('#said').getByText('3 shapes: roads.geojson').waitFor();
            await idle(page);
            const swatch = (await page.locator('#overlays i').evaluate((e) => getComputedStyle(e).backgroundColor)).match(/\d+/g).map(Number);
            const drawn = like(swatch, await lit(page));
            assert.ok(drawn > 400, `${drawn} pixels of lines`);
            // On the points, whose heights it has: a line a metre above or below would be elsewhere in this picture.
            await page.evaluate(() => window.mote.setPointSize(0.4, false));
            const at = await page.evaluate((p) => window.mote.project(p), [...flat(10, 1), 101]);
            const canvas = await page.locator('#canvas').boundingBox();
            const shot = await page.screenshot({ clip: { x: canvas.x + at[0] - 3, y: canvas.y + at[1] - 3, width: 6, height: 6 } });
            const { readPng } = await import('./png.mjs');
            const png = readPng(shot);
            const middle = [0, 1, 2, 3, 4, 5].some((y) => [0, 1, 2, 3, 4, 5].some((x) => png.at(x, y).slice(0, 3).every((c, k) => Math.abs(c - swatch[k]) < 30)));
            assert.ok(middle, 'the line lies where the points are');
            await page.locator('#overlays input').click();
            assert.ok(like(swatch, await lit(page)) < drawn / 20, 'switched off');
            for (const [name, content, words] of [['a.gpkg', 'SQLite format 3\0', /(: no GeoPackage|read where "mote view" serves)/], ['b.json', '{"type": "FeatureCollection", "features": []}', /neither points nor lines/], ['c.json', 'x', /cannot be drawn/]]) {
                await give(name, content);
                await page.locator('#messages').getByText(words).first().waitFor();
                await page.locator('#messages button').first().click();
            }
            assert.deepEqual(asked, [], 'nothing is asked of others');
            await page.route('https://maps.example/**', (route) => route.fulfill({ body: tile([200, 30, 160]), contentType: 'image/png', headers: { 'Access-Control-Allow-Origin': '*' } }));
            await page.locator('summary', { hasText: 'Add a basemap' }).click();
            await page.locator('#basemap').fill('https://maps.example/{z}/{x}/{y}.png');
            await page.keyboard.press('Enter');
            await page.locator('#basemap-told').getByText('Map of maps.example').waitFor();
            await idle(page);
            assert.ok(like([200, 30, 160], await lit(page)) > 5000, 'the map lies below');
            assert.ok(asked.length > 0 && asked.every((url) => /^https:\/\/maps\.example\/\d+\/\d+\/\d+\.png$/.test(url)));
            await page.locator('#overlays input').click();
            await page.screenshot({ path: join(out, 'by-hand-maps.png') });
            await page.locator('#basemap').fill('');
            await page.keyboard.press('Enter');
            await idle(page);
            assert.equal(like([200, 30, 160], await lit(page)), 0);
            for (const [address, words] of [['https://maps.example/tiles', /no \{z\}, \{x\} and \{y\}/], ['file:///{z}/{x}/{y}', /comes from a web server/]]) {
                await page.locator('#basemap').fill(address);
                await page.keyboard.press('Enter');
                await page.locator('#messages').getByText(words).waitFor();
            }
            assert.ok((await stats(page)).pointsDrawn > 10000);
            assert.deepEqual(problems.splice(0).filter((text) => !/400/.test(text)), []);
        },
    },
    'planes and marks that the command is given are in its page, and in the site that it writes': {
        needsMote: true,
        async alone({ mote, folder, out, openPage }) {
            const { spawn } = await import('node:child_process');
            const { startStatic } = await import('./static_server.mjs');
            execFileSync(mote, ['gen', 'room', '-o', join(folder, 'room.las'), '-n', '30k', '-q']);
            execFileSync(mote, ['lod', join(folder, 'room.las'), '-o', join(folder, 'room.mote'), '-q']);
            const { planes } = JSON.parse(execFileSync(mote, ['planes', join(folder, 'room.las'), '--json', '-q'], { maxBuffer: 1 << 26 }));
            writeFileSync(join(folder, 'planes.json'), JSON.stringify({ planes }));
            const [x, y, z] = planes[0].boundary[0];
            const view = `cam=${x},${y},${z},0,0.5,9&color=height`;
            writeFileSync(join(folder, 'ann.geojson'), JSON.stringify({ type: 'FeatureCollection', features: [feature('Point', [x, y, z], { kind: 'note', text: 'here' })], mote: { views: [{ name: 'Corner', view }] } }));
            const given = ['--marks', [join(folder, 'planes.json'), join(folder, 'ann.geojson')].join()];
            const look = async (page, tag) => {
                await idle(page);
                await page.locator('#marks li').nth(planes.length).waitFor();
                assert.equal(await page.locator('#marks li').count(), planes.length + 1);
                assert.equal(await page.locator('#views input').inputValue(), 'Corner');
                await page.locator('#overlay text.plane', { hasText: /^Plane 0$/ }).dispatchEvent('click');
                assert.match(await page.locator('#said').innerText(), /equation .* x .*= /);
                await page.screenshot({ path: join(out, `by-hand-given-${tag}.png`) });
            };
            const child = spawn(mote, ['view', join(folder, 'room.mote'), '--no-open', '--port', '0', '--for', '120', ...given], { stdio: ['ignore', 'pipe', 'inherit'] });
            try {
                const [line] = await new Promise((done) => child.stdout.once('data', (d) => done(String(d).split('\n'))));
                const { page, problems } = await openPage(withQuery(line, PLAIN));
                await look(page, 'server');
                await page.reload();
                await look(page, 'again');
                assert.deepEqual(problems, []);
                await page.close();
            } finally {
                child.kill('SIGTERM');
            }
            execFileSync(mote, ['view', join(folder, 'room.mote'), '--export', join(folder, 'site'), ...given, '-q']);
            assert.ok(readFileSync(join(folder, 'site/index.html'), 'utf8').includes('mote-marks'));
            const site = await startStatic(join(folder, 'site/data'), { dist: join(folder, 'site') });
            try {
                const { page, problems } = await openPage(withQuery(site.url, PLAIN));
                await look(page, 'site');
                assert.deepEqual(problems, []);
                await page.close();
            } finally {
                await site.close();
            }
        },
    },
    'a GeoPackage of GDAL is draped, dropped or chosen, and gives marks; what is damaged is told': {
        needsMote: true,
        data: slope,
        async run({ page, folder, problems, mote }) {
            const gpkg = join(folder, 'lots.gpkg');
            const lots = { type: 'FeatureCollection', crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::25832' } }, features: [feature('Polygon', [[flat(2, 2), flat(12, 2), flat(12, 12), flat(2, 2)], [flat(8, 3), flat(9, 3), flat(9, 4), flat(8, 3)]], { name: 'Hof' }), feature('LineString', [flat(1, 1), flat(19, 19)])] };
            writeFileSync(join(folder, 'lots.geojson'), JSON.stringify(lots));
            try {
                execFileSync('ogr2ogr', [gpkg, join(folder, 'lots.geojson')], { stdio: 'pipe' });
            } catch (error) {
                if (error.code !== 'ENOENT') throw error;
                console.log('skipped: ogr2ogr (Debian: gdal-bin) is not there');
                return;
            }
            const bytes = readFileSync(gpkg);
            await page.locator('#overlay-file').setInputFiles(gpkg);
            await page.locator('#said').getByText('2 shapes: lots.gpkg').waitFor();
            await idle(page);
            const swatch = (await page.locator('#overlays i').first().evaluate((e) => getComputedStyle(e).backgroundColor)).match(/\d+/g).map(Number);
            assert.ok(like(swatch, await lit(page)) > 200, 'lines are drawn');
            await dropFile(page, gpkg, 'dropped.gpkg');
            await page.locator('#overlays li').nth(1).waitFor();
            await page.locator('#marks-file').setInputFiles(gpkg);
            await page.locator('#marks li').nth(1).waitFor();
            const { area } = JSON.parse(execFileSync(mote, ['measure', folder, '--area', gpkg, '--json', '-q']));
            assert.equal(area, 49.5);
            await page.locator('#overlay-file').setInputFiles({ name: 'cut.gpkg', mimeType: '', buffer: bytes.subarray(0, 9000) });
            await page.locator('#messages').getByText(/cut\.gpkg.*SQLite says/).waitFor();
            await page.locator('#messages button').first().click();
            assert.deepEqual(problems.splice(0).filter((text) => !/400/.test(text)), []);
        },
    },
};
