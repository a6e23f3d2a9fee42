// Opens data sets in a real browser and looks at them.
//   node tests/browser/run.mjs [--mote BINARY] [--out DIR] [--first-picture MS] DATASET_DIR...
// Ends with 1 if anything is wrong. Pictures and report.json are left in DIR.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import assert from 'node:assert/strict';
import { openPage, withBrowser, withTimeout } from './browser.mjs';
import { startServer } from './servers.mjs';
import { readDataset } from './read_dataset.mjs';
import { checkPotreeCore } from './potree_core.mjs';
import * as checks from './checks.mjs';

const MAX_SET_MS = 300000;

function parseArguments(args) {
    const o = { mote: null, out: 'browser-test', firstPictureMs: 0, folders: [] };
    for (let i = 0; i < args.length; i++) {
        if (args[i] === '--mote') o.mote = resolve(args[++i]);
        else if (args[i] === '--out') o.out = args[++i];
        else if (args[i] === '--first-picture') o.firstPictureMs = Number(args[++i]);
        else o.folders.push(args[i]);
    }
    if (o.folders.length === 0) throw new Error('no data sets given');
    return o;
}

async function step(report, name, work) {
    const start = Date.now();
    try {
        const value = await work();
        report.steps.push({ name, ok: true, ms: Date.now() - start });
        console.log(`  ok    ${name} (${Date.now() - start} ms)`);
        return value;
    } catch (error) {
        report.steps.push({ name, ok: false, error: String(error?.message ?? error) });
        console.log(`  FAIL  ${name}: ${error?.message ?? error}`);
        return null;
    }
}

const assertQuiet = (problems) => assert.deepEqual(problems.splice(0), [], 'the console must stay quiet');

async function checkPage(context, o, set, url, report, name, isFirst) {
    const { page, problems } = await openPage(context);
    const c = { page, set, out: o.out, name };
    await step(report, 'opens', async () => {
        await page.goto(url + '?background=black');
        await checks.idle(page);
        await checks.picture(page, o.out, name);
        report.firstPictureMs = (await checks.stats(page)).firstPictureMs;
        console.log(`        first picture after ${Math.round(report.firstPictureMs)} ms`);
        if (o.firstPictureMs > 0) assert.ok(report.firstPictureMs < o.firstPictureMs, `first picture after ${report.firstPictureMs} ms`);
    });
    // Software draws lighting slowly: controls and colours are tried with it on the first set alone.
    if (!isFirst) await page.evaluate(() => window.mote.setEyeDome(0));
    await step(report, 'controls', () => checks.checkControls(c));
    await step(report, 'colour modes', () => checks.checkModes(c));
    await page.evaluate(() => window.mote.setEyeDome(0));
    await step(report, 'number of points', () => checks.checkCount(c));
    await step(report, 'budget', () => checks.checkBudget(c));
    if (set.hasRgb && set.metadata.points <= 1e6) {
        await step(report, 'colours of all pixels', async () => {
            await page.evaluate(() => window.mote.setPointSize(1, false));
            await checks.idle(page);
            await checks.checkPalette(c);
        });
        await step(report, 'single points at full zoom', () => checks.checkProbes(c));
    }
    await step(report, 'console', () => assertQuiet(problems));
    await page.close();
}

// The bundled decoder, a small window and, once, the words of errors, which are not of a set.
async function checkVariants(context, o, set, url, report, name, isFirst) {
    if (set.metadata.encoding === 'BROTLI') {
        await step(report, 'bundled brotli decoder', async () => {
            const { page, problems } = await openPage(context);
            await page.goto(url + '?wasm');
            await checks.checkCount({ page, set });
            assertQuiet(problems);
            await page.close();
        });
    }
    await step(report, 'small window', async () => {
        const { page, problems } = await openPage(context, { width: 400, height: 720 });
        await page.goto(url);
        await checks.idle(page);
        await checks.picture(page, o.out, `${name}-small`);
        assert.ok((await checks.stats(page)).pointsDrawn > 0);
        assertQuiet(problems);
        await page.close();
    });
    if (!isFirst) return;
    await step(report, 'errors in words', async () => {
        const { page } = await openPage(context);
        for (const [query, pattern] of [['?data=nothere/', /metadata\.json.*not there/], ['?data=http://127.0.0.1:9/', /127\.0\.0\.1:9 does not answer/]]) {
            await page.goto(url + query);
            await page.getByText(pattern).first().waitFor({ timeout: 10000 });
        }
        await checks.picture(page, o.out, `${name}-error`);
        await page.close();
    });
}

async function checkSet(context, o, folder, isFirst) {
    const name = basename(resolve(folder));
    const report = { folder, name, steps: [] };
    console.log(name);
    const set = readDataset(folder);
    const server = await startServer(o.mote, folder);
    try {
        const all = async () => {
            await checkPage(context, o, set, server.url, report, name, isFirst);
            await checkVariants(context, o, set, server.url, report, name, isFirst);
            await step(report, 'potree-core', () => checkPotreeCore(context, set, o.out, name));
        };
        await withTimeout(all(), MAX_SET_MS, name);
    } catch (error) {
        report.steps.push({ name: 'run', ok: false, error: String(error?.stack ?? error) });
        console.log(`  FAIL  ${error?.message ?? error}`);
    } finally {
        await step(report, 'server ends', () => server.close());
    }
    return report;
}

const options = parseArguments(process.argv.slice(2));
mkdirSync(options.out, { recursive: true });
const reports = await withBrowser(async (context) => {
    const list = [];
    for (const folder of options.folders) list.push(await checkSet(context, options, folder, list.length === 0));
    return list;
});
writeFileSync(join(options.out, 'report.json'), JSON.stringify(reports, null, 1));
const failed = reports.flatMap((r) => r.steps).filter((s) => !s.ok).length;
console.log(failed === 0 ? 'all well' : `${failed} failures`);
process.exit(failed === 0 ? 0 : 1);
