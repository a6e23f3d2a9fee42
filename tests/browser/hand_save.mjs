// What is inside is saved, all points of it: by the server, and by the page alone; points get other classes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from './checks.mjs';
import { makeCity, PHONE, PLAIN, withQuery } from './hand.mjs';
import { startStatic } from './static_server.mjs';

// Rows of numbers of a file, by the command: x, y, z and more names.
function read(mote, folder, name, names = []) {
    execFileSync(mote, ['convert', join(folder, name), '-o', join(folder, `${name}.csv`), '-q']);
    const [head, ...lines] = readFileSync(join(folder, `${name}.csv`), 'utf8').trim().split('\n').map((line) => line.replace(/^#\s*/, '').split(/[,\s]+/));
    const at = ['x', 'y', 'z', ...names].map((n) => head.findIndex((h) => h.toLowerCase() === n));
    return lines.map((line) => at.map((i) => Number(line[i])));
}
const sorted = (rows) => rows.map((row) => row.join()).sort();

async function saved(page, button, folder, name) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator(button).click()]);
    writeFileSync(join(folder, name), readFileSync(await download.path()));
    return download.suggestedFilename();
}

// A polygon with a hole over the middle of a town, as a mark of the page, whose corners are no points of it.
function polygonOver(all) {
    const [low, high] = [Math.min, Math.max].map((f) => [0, 1].map((k) => all.reduce((m, p) => f(m, p[k]), all[0][k])));
    const at = (u, v) => [low[0] + u * (high[0] - low[0]), low[1] + v * (high[1] - low[1])].map((c) => Math.round(c) + 0.0003);
    const outer = [at(0.2, 0.15), at(0.8, 0.3), at(0.7, 0.85), at(0.3, 0.6)];
    const hole = [at(0.4, 0.4), at(0.6, 0.4), at(0.55, 0.6)];
    const inRing = (ring, [x, y]) => ring.reduce((inside, [x1, y1], i) => {
        const [x2, y2] = ring[(i + 1) % ring.length];
        return (y1 > y) !== (y2 > y) && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1 ? !inside : inside;
    }, false);
    const closed = (ring) => [...ring, ring[0]].map((p) => [...p, 0]);
    const file = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: { kind: 'area', text: 'yard' }, geometry: { type: 'Polygon', coordinates: [closed(outer), closed(hole)] } }] };
    return { file, holds: (p) => inRing(outer, p) && !inRing(hole, p) };
}

async function givePolygon(page, folder, file) {
    writeFileSync(join(folder, 'yard.geojson'), JSON.stringify(file));
    await page.locator('#marks-file').setInputFiles(join(folder, 'yard.geojson'));
    await page.locator('#region').getByText('yard').waitFor({ state: 'attached' });
    await idle(page);
}

// The same on the page of a server and on that of a plain web server.
const NAMES = ['intensity', 'classification', 'return_number', 'point_source_id', 'red'];
async function checkInside(page, mote, folder, tag) {
    const all = read(mote, folder, 'city.las', NAMES);
    const { file, holds } = polygonOver(all);
    const inside = all.filter(holds);
    assert.ok(inside.length > 3000 && inside.length < all.length / 2, `${inside.length} points`);
    await givePolygon(page, folder, file);
    assert.equal(await page.locator('#region').evaluate((e) => e.selectedOptions[0].textContent), 'yard', 'a new polygon is chosen');
    const name = await saved(page, '#points-save', folder, `${tag}-inside.las`);
    await page.locator('#said').getByText(new RegExp(`^${inside.length.toLocaleString('en-US').replace(',', ' ')} points saved in .*yard`)).waitFor();
    assert.deepEqual(sorted(read(mote, folder, `${tag}-inside.las`, NAMES)), sorted(inside), `${tag}: inside`);
    execFileSync(mote, ['convert', join(folder, 'city.las'), '-o', join(folder, 'command.las'), '--polygon', join(folder, 'yard.geojson'), '-q']);
    assert.deepEqual(sorted(read(mote, folder, 'command.las', NAMES)), sorted(inside), 'the command finds the same');
    // With filters, a clip box that is turned and hides, and of all.
    const middle = [0, 1, 2].map((k) => inside.reduce((sum, p) => sum + p[k], 0) / inside.length);
    await page.evaluate(([x, y, z]) => {
        window.mote.hideClasses([2]);
        window.mote.setFilter('height', [z - 3, z + 30]);
    }, middle);
    await saved(page, '#points-save', folder, `${tag}-filtered.las`);
    const filtered = inside.filter((p) => p[4] !== 2 && p[2] >= middle[2] - 3 - 0.0051 && p[2] <= middle[2] + 30.0051);
    assert.ok(filtered.length > 100 && filtered.length < inside.length);
    assert.deepEqual(sorted(read(mote, folder, `${tag}-filtered.las`, NAMES)), sorted(filtered), `${tag}: filtered`);
    await page.locator('#region').selectOption('');
    await saved(page, '#points-save', folder, `${tag}-shown.las`);
    assert.deepEqual(sorted(read(mote, folder, `${tag}-shown.las`, NAMES)), sorted(all.filter((p) => p[4] !== 2 && p[2] >= middle[2] - 3 - 0.0051 && p[2] <= middle[2] + 30.0051)));
    return { name, middle };
}

export const SAVE_CHECKS = {
    'all points in a polygon with a hole are saved as LAZ by the server, with filters, and as the command finds them': {
        needsMote: true,
        data: (folder, mote) => makeCity(mote, folder, 'city.mote'),
        query: 'budget=3000',
        async run({ page, mote, folder, out }) {
            const { name } = await checkInside(page, mote, folder, 'server');
            assert.match(name, /yard\.laz$/);
            await page.locator('#save-section').scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(out, 'by-hand-save.png') });
            // Who is no page of this server, or asks for nonsense, is refused.
            const origin = { Origin: new URL(page.url()).origin };
            const ask = (path, body, headers = origin) => fetch(new URL(path, page.url()), { method: 'POST', body, headers }).then(async (r) => [r.status, await r.text()]);
            assert.deepEqual((await ask('cut/1', '{}', {}))[0], 403);
            assert.deepEqual((await ask('cut/1', '{}', { Origin: 'http://elsewhere' }))[0], 403);
            for (const path of ['cut/2', 'cut/0', 'cut/1x', 'cut/']) assert.equal((await ask(path, '{}'))[0], 404, path);
            const all = { type: 'FeatureCollection', features: [] };
            const wrong = {
                'x': /line 1/, '{}': /no list of features/,
                [JSON.stringify({ ...all, mote: { filter: { hide: [300] } } })]: /"hide" is not what it has to be/,
                [JSON.stringify({ ...all, mote: { filter: { wear: 1 } } })]: /"wear"/,
                [JSON.stringify({ ...all, mote: { filter: { ranges: { nothere: [0, 1] } } } })]: /no attribute "nothere"/,
                [JSON.stringify({ ...all, features: [{ type: 'Feature', properties: { class: 256 }, geometry: null }] })]: /features\[0\]\.properties: class/,
                [JSON.stringify({ ...all, features: [{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [1, 2] } }] })]: /./,
            };
            for (const [body, words] of Object.entries(wrong)) {
                const [status, text] = await ask('cut/1', body);
                assert.ok(status === 400 || status === 500, `${body}: ${status}`);
                assert.match(text, words);
                assert.ok(!text.includes('/tmp/'), text);
            }
            assert.equal((await ask('cut/1', ' '.repeat(9 << 20)).catch(() => [413]))[0], 413);
            assert.equal((await ask('cut/1', JSON.stringify(all)))[0], 200, 'and serves on');
        },
    },
    'all points in a polygon are saved by the page alone, of a COPC file and of Potree folders': {
        needsMote: true,
        maxMs: 240000,
        data: (folder, mote) => makeCity(mote, folder, 'city.copc.laz'),
        async run({ page, mote, folder, dist }) {
            const other = await startStatic(folder, { dist });
            try {
                for (const encoding of ['default', 'brotli']) execFileSync(mote, ['lod', join(folder, 'city.las'), '-o', join(folder, encoding), '--encoding', encoding, '-q']);
                for (const data of ['data/city.copc.laz', 'data/default/', 'data/brotli/']) {
                    await page.goto(withQuery(other.url, PLAIN, 'budget=3000', `data=${data}`));
                    await idle(page);
                    const { name } = await checkInside(page, mote, folder, data.replace(/\W/g, '_'));
                    assert.match(name, /yard\.las$/);
                    await page.locator('#marks-none').click();
                }
            } finally {
                await other.close();
            }
        },
    },
    'points in a polygon get another class: shown, taken back, saved as a new file and as a list that the command applies': {
        needsMote: true,
        data: (folder, mote) => makeCity(mote, folder, 'city.mote'),
        query: 'color=classification',
        async run({ page, mote, folder, out }) {
            const names = ['classification', 'intensity'];
            const all = read(mote, folder, 'city.las', names);
            const { file, holds } = polygonOver(all);
            await givePolygon(page, folder, file);
            await page.locator('#edit-class').selectOption('14');
            await page.locator('#edit-add').click();
            await page.locator('#edits li').getByText('yard → 14').waitFor();
            await idle(page);
            assert.ok(await page.locator('#classes').getByText('14', { exact: false }).first().isVisible(), 'the new class is in the list');
            await page.evaluate(() => window.mote.hideClasses([14]));
            await idle(page);
            const inside = all.filter(holds).length;
            const drawn = (await page.evaluate(() => window.mote.stats())).pointsDrawn;
            assert.equal(drawn, all.length - inside, 'what is shown has the new class');
            // A second one, of what is still shown: everything else that is ground.
            await page.locator('#region').selectOption('');
            await page.evaluate(() => window.mote.hideClasses([14, 2]));
            await page.locator('#edit-class').selectOption('65');
            await page.locator('#edit-add').click();
            await page.evaluate(() => window.mote.hideClasses([]));
            await idle(page);
            await page.locator('#save-section').scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(out, 'by-hand-classes.png') });
            const wanted = all.map((p) => (holds(p) ? [...p.slice(0, 3), 14, p[4]] : p[3] === 2 ? p : [...p.slice(0, 3), 65, p[4]]));
            await saved(page, '#edits-file', folder, 'new.las');
            assert.deepEqual(sorted(read(mote, folder, 'new.las', names)), sorted(wanted));
            await saved(page, '#edits-save', folder, 'edits.geojson');
            execFileSync(mote, ['convert', join(folder, 'city.las'), '-o', join(folder, 'edited.las'), '--edits', join(folder, 'edits.geojson'), '-q']);
            assert.deepEqual(sorted(read(mote, folder, 'edited.las', names)), sorted(wanted));
            assert.deepEqual(sorted(read(mote, folder, 'city.las', names)), sorted(all), 'never in place');
            // Kept over a reload, and taken back.
            await page.reload();
            await idle(page);
            assert.equal(await page.locator('#edits li').count(), 2);
            await page.locator('#edits-undo').click();
            await page.locator('#edits .remove').click();
            await idle(page);
            await page.evaluate(() => window.mote.hideClasses([14, 65]));
            await idle(page);
            assert.equal((await page.evaluate(() => window.mote.stats())).pointsDrawn, all.length, 'as in the file');
            await page.setViewportSize(PHONE);
            if (!(await page.locator('#panel').isVisible())) await page.locator('#panel-toggle').click();
            await page.locator('#edit-add').scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(out, 'by-hand-save-phone.png') });
        },
    },
};
