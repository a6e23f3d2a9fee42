// Loads a data set with potree-core and expects points on the screen and a quiet console.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStatic } from './static_server.mjs';
import { openPage } from './browser.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const viewer = join(here, '../../viewer');
const MIN_LIT_PIXELS = 100;
// What it says of nodes whose points all stand in coarser ones: there is nothing to draw, and nothing is wrong.
const OF_EMPTY_NODES = /^console warning: loaded node with 0 bytes/;

async function buildPage(folder) {
    const { build } = createRequire(join(viewer, 'package.json'))('esbuild');
    await build({
        entryPoints: [join(here, 'potree_core_page.js')], outfile: join(folder, 'page.js'), bundle: true, format: 'esm',
        nodePaths: [join(viewer, 'node_modules')], logLevel: 'error', external: ['fs', 'path'],
    });
    writeFileSync(join(folder, 'index.html'), '<!doctype html><link rel="icon" href="data:,"><canvas></canvas><script type="module" src="page.js"></script>');
}

export async function checkPotreeCore(context, set, out, name) {
    const folder = mkdtempSync(join(tmpdir(), 'mote-potree-core-'));
    let server = null;
    try {
        await buildPage(folder);
        server = await startStatic(set.folder, { dist: folder });
        const { page, problems } = await openPage(context);
        await page.goto(server.url);
        await page.waitForFunction(() => typeof window.show === 'function');
        const result = await page.evaluate(([url, rgb, minLit, rest]) => Promise.race([
            window.show(url, rgb, minLit, rest),
            new Promise((_, reject) => setTimeout(() => reject(new Error('nothing drawn after 60 s')), 60000)),
        ]), [`${server.url}data/`, set.hasRgb, MIN_LIT_PIXELS, set.metadata.mote?.rest ?? null]);
        await page.screenshot({ path: join(out, `${name}-potree-core.png`) });
        await page.close();
        assert.ok(result.points > 0, 'no points');
        assert.ok(result.lit >= Math.min(MIN_LIT_PIXELS, result.points / 4), `only ${result.lit} pixels are lit`);
        assert.deepEqual(problems.filter((text) => !OF_EMPTY_NODES.test(text)), []);
        return result;
    } finally {
        await server?.close();
        rmSync(folder, { recursive: true, force: true });
    }
}
