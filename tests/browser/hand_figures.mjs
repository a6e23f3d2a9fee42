// Figures that one can sign: of all points, the same from any camera and as `mote measure` gives them, in every unit.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idle } from './checks.mjs';
import { inTurn, makeCity, PLAIN, withQuery } from './hand.mjs';
import { startServer } from './servers.mjs';
import { startStatic } from './static_server.mjs';

const figures = (page) => page.evaluate(() => window.mote.figures);
const done = async (page) => {
    await page.waitForFunction(() => window.mote?.figures.length > 0 && window.mote.figures.every(({ state }) => state === 'done' || state === 'failed'));
    return figures(page);
};
const markOf = (kind, points, more = []) => `mark=${encodeURIComponent([kind, ...more, ...points.map((p) => p.join())].join(';'))}`;

function measure(mote, folder, file, geometry, ...args) {
    writeFileSync(join(folder, 'shape.geojson'), JSON.stringify(geometry));
    return JSON.parse(execFileSync(mote, ['measure', file, ...args, join(folder, 'shape.geojson'), '--json', '-q']));
}
const polygon = (points) => ({ type: 'Polygon', coordinates: [points] });
const line = (points) => ({ type: 'LineString', coordinates: points });

async function withServer(mote, file, openPage, work) {
    const server = await startServer(mote, file);
    const { page, problems } = await openPage(server.url);
    try {
        await idle(page);
        await work(page, server.url);
        assert.deepEqual(problems, [], 'the console must stay quiet');
    } finally {
        await page.close();
        await server.close();
    }
}

// A made site of 10 m: a box of 24 m³ on the ground, points every 5 cm. size: metres of a coordinate on each axis;
// slope: of the ground, to the east
const MIDDLE = 5;
function makeSite(mote, folder, { crs, size, at }, slope = 0) {
    const lines = [`# mote crs ${crs.replaceAll(' ', '%20')}`, 'x y z'];
    const height = (u, v) => (Math.abs(u) < 2 && Math.abs(v) < 1.5 ? 2 : 0);
    for (let i = 0; i < 200; i++) {
        for (let j = 0; j < 200; j++) {
            const [u, v] = [(i + 0.5) / 20 - MIDDLE, (j + 0.5) / 20 - MIDDLE];
            lines.push([u, v, height(u, v) + slope * u].map((c, k) => (c / size[k] + at[k]).toFixed(10)).join(' '));
        }
    }
    writeFileSync(join(folder, 'site.xyz'), `${lines.join('\n')}\n`);
    execFileSync(mote, ['lod', join(folder, 'site.xyz'), '-o', join(folder, 'site.mote'), '-q']);
    const place = (u, v) => [u / size[0] + at[0], v / size[1] + at[1], at[2]];
    return { file: join(folder, 'site.mote'), corners: [place(-4, -4), place(4, -4), place(4, 4), place(-4, 4)] };
}

const US_FOOT = 1200 / 3937;
const WKT_US = 'PROJCS["p",GEOGCS["g",UNIT["degree",0.0174532925199433]],UNIT["US survey foot",0.304800609601219]]';
const SITES = {
    metres: { crs: 'EPSG:32632+5703', size: [1, 1, 1], at: [691000, 5335000, 400], unit: 'm', figure: 1 },
    feet: { crs: 'PROJCS["p",GEOGCS["g",UNIT["degree",0.0174532925199433]],UNIT["foot",0.3048]]', size: [0.3048, 0.3048, 0.3048], at: [636000, 849000, 400], unit: 'ft', figure: 0.3048 },
    compound: { crs: `COMPD_CS["c",${WKT_US},VERT_CS["v",UNIT["metre",1]]]`, size: [US_FOOT, US_FOOT, 1], at: [2000000, 700000, 100], unit: 'US ft', figure: US_FOOT },
    degrees: { crs: 'EPSG:4326', size: [78846.8, 111131.7, 1], at: [11.5, 45, 500], unit: 'm', figure: 1 },
};

// Systems whose units stand in a code, in GeoTIFF keys, in a name, beside the system, in an angle; two kinds of feet.
const FOOT = 'PROJCS["p",GEOGCS["g",UNIT["degree",0.0174532925199433]],UNIT["foot",0.3048]]';
const COPC_SITES = {
    'a code and one of heights': { crs: 'EPSG:26910+6360', size: [1, 1, US_FOOT], at: [550000, 5000000, 100], unit: 'm', figure: 1 },
    'codes of feet and of metres': { crs: 'EPSG:2903+5703', size: [US_FOOT, US_FOOT, 1], at: [1500000, 700000, 100], unit: 'US ft', figure: US_FOOT },
    'a code of US State Plane': { crs: 'EPSG:2263+5703', size: [US_FOOT, US_FOOT, 1], at: [980000, 200000, 100], unit: 'US ft', figure: US_FOOT },
    'a name': { crs: 'PROJCS["p",GEOGCS["g",UNIT["degree",0.0174532925199433]],UNIT["Foot_US"]]', size: [US_FOOT, US_FOOT, US_FOOT], at: [2000000, 700000, 100], unit: 'US ft', figure: US_FOOT },
    'ESRI': { crs: `${WKT_US},VERTCS["v",UNIT["Meter",1]]`, size: [US_FOOT, US_FOOT, 1], at: [2000000, 700000, 100], unit: 'US ft', figure: US_FOOT },
    'two kinds of feet': { crs: `COMPD_CS["c",${FOOT},VERT_CS["v",UNIT["US survey foot",0.304800609601219]]]`, size: [0.3048, 0.3048, US_FOOT], at: [600000, 700000, 100], unit: 'ft', figure: 0.3048 },
    'grads': { crs: 'GEOGCS["NTF",UNIT["grad",0.015707963267948967]]', size: [78846.8 * 0.9, 111131.7 * 0.9, 1], at: [12.7, 50, 500], unit: 'm', figure: 1 },
};

export const FIGURE_CHECKS = {
    ...Object.fromEntries(inTurn(Object.entries(COPC_SITES), 3).map(([name, site]) => [`COPC counts in what the command says it does: ${name}`, {
        async alone({ mote, folder, openPage }) {
            if (!mote) return;
            const { file, corners } = makeSite(mote, folder, site);
            const copc = join(folder, 'site.copc.laz');
            execFileSync(mote, ['lod', file, '-o', copc, '-q'], { stdio: 'ignore' });
            const top = [corners[0].map((c, i) => (c + corners[2][i]) / 2).map((c, i) => (i === 2 ? c + 2 / site.size[2] : c))];
            for (const path of [file, copc]) {
                const truth = measure(mote, folder, path, polygon(corners), '--volume');
                await withServer(mote, path, openPage, async (page, url) => {
                    await page.goto(withQuery(url, PLAIN, [markOf('volume', corners), markOf('height', [corners[0], ...top])].join('&')));
                    await idle(page);
                    const [volume, height] = await done(page);
                    assert.deepEqual([volume.unit, volume.figures.above, height.unit], [site.unit, truth.above, truth.unit], path);
                    assert.ok(Math.abs(volume.figures.above * site.figure ** 3 - 24) < 0.001, `${path}: ${volume.figures.above}`);
                    assert.ok(Math.abs(height.figures.height * site.figure - 2) < 1e-7, `${path}: ${height.figures.height}`);
                });
            }
        },
    }])),
    'a profile is drawn in one unit, also where heights have another: as DXF by page and command, and in its plot': {
        async alone({ mote, folder, openPage }) {
            if (!mote) return;
            const seen = [];
            const heightsOf = (path) => [...readFileSync(path, 'latin1').matchAll(/\n *POINT\r?\n(?: *\d+\r?\n[^\n]*\n)*? *20\r?\n([^\r\n]*)/g)].map(([, y]) => Number(y)).sort((a, b) => a - b);
            for (const site of [{ ...COPC_SITES['a code and one of heights'], crs: 'EPSG:26910+5703', size: [1, 1, 1] }, COPC_SITES['a code and one of heights']]) {
                const { file, corners: [a, b, , d] } = makeSite(mote, folder, site);
                const path = [a, b].map((p) => [p[0], (a[1] + d[1]) / 2, p[2]]);
                writeFileSync(join(folder, 'line.geojson'), JSON.stringify(line(path)));
                execFileSync(mote, ['measure', file, '--profile', join(folder, 'line.geojson'), '--width', '1', '-o', join(folder, 'p.dxf'), '-q']);
                const wanted = heightsOf(join(folder, 'p.dxf'));
                await withServer(mote, file, openPage, async (page, url) => {
                    await page.goto(withQuery(url, PLAIN, markOf('profile', path, ['w1'])));
                    await idle(page);
                    await page.getByText('Show profile').click();
                    await page.waitForFunction(() => !document.querySelector('#profile-dxf').disabled);
                    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#profile-dxf').click()]);
                    const heights = heightsOf(await download.path());
                    assert.ok(heights.length > 1000);
                    assert.deepEqual(heights, wanted);
                    assert.ok(Math.abs(heights.at(-1) - heights[0] - 2) < 1e-6, `${heights.at(-1) - heights[0]}`);
                    seen.push(await page.locator('#profile-scale').innerText());
                });
            }
            assert.equal(seen[0], seen[1], 'the plot is as exaggerated as in metres');
        },
    },
    'the server cuts a profile as wide in grads as in metres': {
        async alone({ mote, folder, openPage }) {
            if (!mote) return;
            const { file, corners: [a, b, , d] } = makeSite(mote, folder, COPC_SITES.grads);
            const path = [a, b].map((p) => [p[0], (a[1] + d[1]) / 2, p[2]]);
            const cut = join(folder, 'p.las');
            writeFileSync(join(folder, 'line.geojson'), JSON.stringify(line(path)));
            execFileSync(mote, ['measure', file, '--profile', join(folder, 'line.geojson'), '--width', '1.02', '-o', cut, '-q']);
            await withServer(mote, file, openPage, async (page, url) => {
                await page.goto(withQuery(url, PLAIN, markOf('profile', path, ['w1.02'])));
                await idle(page);
                await page.getByText('Show profile').click();
                await page.waitForFunction(() => !document.querySelector('#profile-las').disabled);
                const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#profile-las').click()]);
                const count = (path) => JSON.parse(execFileSync(mote, ['info', path, '--json', '-q'])).points;
                writeFileSync(join(folder, 'page.las'), readFileSync(await download.path()));
                assert.equal(count(join(folder, 'page.las')), count(cut));
                assert.ok(count(cut) > 2500, `${count(cut)} points`);
            });
        },
    },
    'two clouds in different units are measured in those of the first, whichever is active; what is saved of the second is as its file': {
        async alone({ mote, folder, openPage }) {
            if (!mote) return;
            const first = { crs: 'EPSG:32632+5703', size: [1, 1, 1], at: [691000, 5335000, 400] };
            const { file, corners } = makeSite(mote, folder, first);
            const half = { crs: `COMPD_CS["c",${WKT_US},VERT_CS["v",UNIT["foot",0.3048]]]`, size: [US_FOOT, US_FOOT, 0.3048] };
            const second = { ...half, at: first.at.map((c, i) => c / half.size[i]) };
            mkdirSync(join(folder, 'two'));
            const own = makeSite(mote, join(folder, 'two'), second);
            const server = await startStatic(file, { extra: { '/second/': own.file } });
            const { page, problems } = await openPage(withQuery(server.url, PLAIN, `data=data/&data=second/&${markOf('volume', corners)}`));
            try {
                await idle(page);
                await page.locator('#clouds li').nth(1).waitFor();
                await page.locator('#clouds input[type=checkbox]').first().click();
                for (const active of [0, 1]) {
                    await page.locator('#clouds .name').nth(active).click();
                    await idle(page);
                    const [volume] = await done(page);
                    assert.equal(volume.unit, 'm');
                    assert.ok(Math.abs(volume.figures.above - 24) < 0.001, `${volume.figures.above}`);
                    assert.match(await page.locator('#s-scale').innerText(), /\u00a0m$/);
                }
                await page.locator('#region').selectOption('');
                const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#points-save').click()]);
                writeFileSync(join(folder, 'part.las'), readFileSync(await download.path()));
                const info = (path) => JSON.parse(execFileSync(mote, ['info', path, '--json', '-q']));
                const [saved, wanted] = [info(join(folder, 'part.las')), info(own.file)];
                assert.deepEqual([saved.points, saved.min, saved.max, saved.units], [wanted.points, wanted.min, wanted.max, wanted.units]);
            } finally {
                await page.close();
                await server.close();
            }
            assert.deepEqual(problems, []);
        },
    },
    'a list of edits in other units than those of its file is not saved, and told; the points are': {
        async alone({ mote, folder, openPage }) {
            if (!mote) return;
            const first = makeCity(mote, folder, 'city.mote', '20k');
            execFileSync(mote, ['lod', join(folder, 'city.las'), '-o', join(folder, 'feet.mote'), '--crs', 'EPSG:2263', '-q']);
            const server = await startStatic(first, { extra: { '/second/': join(folder, 'feet.mote') } });
            const { page, problems } = await openPage(withQuery(server.url, PLAIN, 'data=data/&data=second/'));
            try {
                await page.locator('#clouds .name').nth(1).click();
                await idle(page);
                await page.locator('#edit-class').selectOption('6');
                await page.locator('#edit-add').click();
                await page.locator('#edits-save').click();
                await page.locator('#messages').getByText(/other units than the file of/).waitFor();
                const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#edits-file').click()]);
                writeFileSync(join(folder, 'edited.las'), readFileSync(await download.path()));
                const box = (path) => JSON.parse(execFileSync(mote, ['info', path, '--json', '-q']));
                const [saved, wanted] = [box(join(folder, 'edited.las')), box(join(folder, 'feet.mote'))];
                assert.deepEqual([saved.points, saved.min, saved.max], [wanted.points, wanted.min, wanted.max]);
            } finally {
                await page.close();
                await server.close();
            }
            assert.deepEqual(problems, []);
        },
    },
    // By mote view and, as a site on the web has it, by a server that knows nothing of clouds.
    ...Object.fromEntries(inTurn([['of a folder', 'city.mote', true], ['of COPC', 'city.copc.laz', true], ['of a static site', 'city.mote', false]], 3).map(([what, name, byMote]) => [`a volume, an area and a profile are those of the command, from any camera, ${what}`, {
        async alone({ mote, folder, out, openPage }) {
            if (!mote) return;
            const file = makeCity(mote, folder, name, '200k');
            const { points, min, max } = JSON.parse(execFileSync(mote, ['info', join(folder, 'city.las'), '--json', '-q']));
            const at = (u, v) => [min[0] + u * (max[0] - min[0]), min[1] + v * (max[1] - min[1]), min[2] + 1.5].map((c) => Number(c.toFixed(3)));
            const corners = [at(0.2, 0.15), at(0.8, 0.2), at(0.7, 0.75), at(0.5, 0.4), at(0.25, 0.8)];
            const path = [at(0.1, 0.2), at(0.6, 0.45), at(0.55, 0.9)];
            const volume = measure(mote, folder, join(folder, 'city.las'), polygon(corners), '--volume');
            const lowest = measure(mote, folder, join(folder, 'city.las'), polygon(corners), '--above', 'lowest', '--volume');
            const area = measure(mote, folder, join(folder, 'city.las'), polygon(corners), '--area');
            const profile = measure(mote, folder, join(folder, 'city.las'), line(path), '--width', '3', '--profile');
            assert.ok(volume.points > 5000 && profile.points > 500, `${points}: ${volume.points} and ${profile.points} points`);
            await withServer(byMote ? mote : null, file, openPage, async (page, url) => {
                const marks = [markOf('volume', corners), markOf('area', corners), markOf('profile', path, ['w3'])].join('&');
                await page.goto(withQuery(url, PLAIN, `budget=2000&${marks}`));
                await idle(page);
                assert.ok((await page.evaluate(() => window.mote.stats().pointsDrawn)) < volume.points / 2, 'few are drawn');
                await page.getByText('Show profile').click();
                for (const closer of [1, 0.1]) {
                    await page.evaluate((k) => (window.mote.camera = { distance: window.mote.camera.distance * k }), closer);
                    await idle(page);
                    const [v, a, p] = await done(page);
                    for (const name of ['above', 'below', 'area', 'points', 'empty', 'cell']) assert.equal(v.figures[name], volume[name], `${file}: ${name}`);
                    assert.deepEqual([a.figures['seen from above'], a.figures.area, a.figures.around], [area.area, area.surface, area.around]);
                    assert.deepEqual([p.figures.length, p.figures.points, v.unit], [profile.length, profile.points, profile.unit ?? '']);
                }
                await page.locator('#marks select.base').selectOption('lowest');
                const [v] = await done(page);
                for (const name of ['above', 'below', 'area', 'points', 'level']) assert.equal(v.figures[name], lowest[name], `${file}: ${name} over the lowest point`);
                assert.equal((await page.evaluate(() => window.mote.marks))[0].base, 'lowest');
                assert.match(decodeURIComponent(await page.evaluate(() => window.mote.link())), /volume;lowest;/);
                await page.locator('#h-marks').scrollIntoViewIfNeeded();
                await page.screenshot({ path: join(out, `by-hand-figures-${what.split(' ').at(-1)}.png`) });
            });
        },
    }])),
    ...Object.fromEntries(inTurn([['metres', 'feet'], ['compound', 'degrees']], 2).map((names) => [`made sites have their volumes in ${names.join(' and ')}; units change figures and no coordinate`, {
        async alone({ mote, folder, out, openPage }) {
            if (!mote) return;
            for (const [name, site] of Object.entries(SITES).filter(([key]) => names.includes(key))) {
                const { file, corners } = makeSite(mote, folder, site);
                const truth = measure(mote, folder, file, polygon(corners), '--volume');
                await withServer(mote, file, openPage, async (page, url) => {
                    await page.goto(withQuery(url, PLAIN, markOf('volume', corners)));
                    await idle(page);
                    const [{ figures: volume, unit }] = await done(page);
                    assert.deepEqual([volume.above, volume.below, volume.area, volume.points, unit], [truth.above, truth.below, truth.area, truth.points, truth.unit], name);
                    assert.equal(unit, site.unit);
                    assert.ok(Math.abs(volume.above * site.figure ** 3 - 24) < 0.1, `${name}: ${volume.above * site.figure ** 3} m³`);
                    const row = page.locator('#marks dl').first();
                    const before = (await page.evaluate(() => window.mote.marks))[0].points;
                    for (const [units, word, size] of [['m', 'm', 1], ['ft', 'ft', 0.3048], ['us-ft', 'US ft', US_FOOT], ['file', site.unit, site.figure]]) {
                        await page.evaluate((u) => window.mote.setUnits(u), units);
                        await page.waitForFunction((w) => document.querySelector('#marks dl').innerText.includes(`\u00a0${w}³`), word);
                        const above = Number((await row.innerText()).replaceAll('\u2009', '').match(/above\s+([\d.]+)/)[1]);
                        assert.ok(Math.abs(above * size ** 3 - 24) < 0.1, `${name} in ${units}: ${above}`);
                    }
                    assert.deepEqual((await page.evaluate(() => window.mote.marks))[0].points, before);
                    await page.evaluate(() => window.mote.setUnits('us-ft'));
                    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#marks-save').click()]);
                    const { properties } = JSON.parse(readFileSync(await download.path(), 'utf8')).features[0];
                    assert.deepEqual([properties.above, properties.unit], [truth.above, truth.unit], 'a file of marks says what its figures count in, which no switch changes');
                    await page.evaluate(() => window.mote.setUnits('file'));
                    await page.evaluate(() => window.mote.setColorMode('height'));
                    await idle(page);
                    const heights = await page.locator('#legend').innerText();
                    if (name === 'compound' || name === 'metres') assert.match(heights, /\u00a0m/);
                    await page.screenshot({ path: join(out, `by-hand-units-${name}.png`) });
                });
            }
        },
    }])),
    ...Object.fromEntries(inTurn(Object.keys(SITES), 2).map((name) => [`polygons without heights have the figures of the command, whatever was drawn when they came, in ${name}`, {
        async alone({ mote, folder, openPage }) {
            if (!mote) return;
            const { file, corners } = makeSite(mote, folder, SITES[name], 0.2);
            const [a, b, c, d] = corners;
            const flat = ([x, y]) => [x, y];
            const hole = [0.4, 0.6].flatMap((u) => [0.4, 0.6].map((v) => [a[0] + u * (b[0] - a[0]), a[1] + v * (d[1] - a[1])]));
            const shapes = { flat: [[a, b, c, d, a].map(flat)], mixed: [[a, flat(d), c, flat(b), a]], holed: [[a, d, c, b, a].map(flat), [hole[0], hole[1], hole[3], hole[2], hole[0]]] };
            for (const [shape, rings] of Object.entries(shapes)) writeFileSync(join(folder, `${shape}.geojson`), JSON.stringify({ type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: rings } }] }));
            const run = (path, ...args) => JSON.parse(execFileSync(mote, ['measure', file, ...args, path, '--json', '-q']));
            await withServer(mote, file, openPage, async (page, url) => {
                await page.addInitScript(() => localStorage.clear()); // each time as in a browser that keeps nothing
                for (const [shape, budget] of [['flat', 500], ['mixed', 2e6], ['holed', 500]]) {
                    const path = join(folder, `${shape}.geojson`);
                    const [volume, area] = [run(path, '--volume'), run(path, '--area')];
                    await page.goto(withQuery(url, PLAIN, `budget=${budget}`));
                    await idle(page);
                    await page.locator('#marks-file').setInputFiles(path);
                    await page.getByText('Measure the volume').click();
                    const same = async () => {
                        await page.waitForFunction(() => window.mote?.figures.length === 2);
                        const [byPage, pageVolume] = await done(page);
                        for (const figure of ['above', 'below', 'area', 'points', 'empty', 'cell']) assert.equal(pageVolume.figures[figure], volume[figure], `${shape} in ${name}: ${figure}`);
                        assert.deepEqual([byPage.figures['seen from above'], byPage.figures.area, byPage.figures.around], [area.area, area.surface ?? undefined, area.around], shape);
                    };
                    await same();
                    assert.match(await page.locator('#marks').innerText(), /corners without a height\s+[24]\b/);
                    // What is saved has no heights either: the same figures of it, by the command, and in the page that a link opens.
                    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#marks-save').click()]);
                    const saved = run(await download.path(), '--feature', '1', '--volume');
                    for (const figure of ['above', 'below', 'area', 'points']) assert.equal(saved[figure], volume[figure], `${shape} in ${name}, saved: ${figure}`);
                    if (shape === 'holed') continue; // links have no holes
                    await page.goto(await page.evaluate(() => window.mote.link()));
                    await idle(page);
                    await same();
                }
            });
        },
    }])),
    'until all points are read a figure is an estimate, which can be stopped and goes on': {
        needsMote: true,
        data: (folder, mote) => makeCity(mote, folder, 'city.mote', '300k'),
        async run({ page, url, out }) {
            const box = await page.evaluate(() => window.mote.metadata().box);
            const at = (u, v) => [box.min[0] + u * (box.max[0] - box.min[0]), box.min[1] + v * (box.max[1] - box.min[1]), box.min[2]];
            const corners = [at(0.1, 0.1), at(0.9, 0.1), at(0.9, 0.9), at(0.1, 0.9)];
            let held = [];
            let isHeld = true;
            // The first requests pass, so that there is something to estimate; the others wait.
            let passed = 0;
            await page.route('**/octree.bin*', async (route) => {
                if (isHeld && passed++ > 5) await new Promise((go) => held.push(go));
                await route.continue().catch(() => {});
            });
            await page.goto(withQuery(url, PLAIN, `budget=1000&${markOf('volume', corners)}`));
            const text = page.locator('.survey span').first();
            await page.waitForFunction(() => /^estimate, [\d ]+ of [\d ]+ points$/.test(document.querySelector('.survey span')?.textContent ?? ''));
            await page.locator('#h-marks').scrollIntoViewIfNeeded();
            await page.screenshot({ path: join(out, 'by-hand-estimate.png') });
            await page.locator('.survey button').click();
            assert.equal((await figures(page))[0].state, 'stopped');
            assert.match(await text.innerText(), /^estimate/);
            isHeld = false;
            for (const go of held) go();
            await page.locator('.survey button', { hasText: 'Go on' }).click();
            const [{ state, figures: all, done: read, total }] = await done(page);
            assert.deepEqual([state, read], ['done', total]);
            assert.ok(all.points > 100000);
            await page.waitForFunction(() => document.querySelector('.survey').hidden);
        },
    },
};
