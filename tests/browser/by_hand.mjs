// Where people stumble: each check does by hand what a person would, on a small data set of its own.
//   node tests/browser/by_hand.mjs [--mote BINARY] [--dist FOLDER_OF_THE_PAGE] [--out DIR] [--share N] [NAME...]
// --share N: each N-th, in turn (inTurn in hand.mjs). Ends with 1 if anything is wrong. Pictures are left in DIR.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openPage, withBrowser, withTimeout } from './browser.mjs';
import { startServer } from './servers.mjs';
import { startStatic } from './static_server.mjs';
import { idle } from './checks.mjs';
import { BARE, DESKTOP, inTurn, PLAIN, withQuery } from './hand.mjs';
import { ATTRIBUTE_CHECKS } from './hand_attributes.mjs';
import { NAVIGATION_CHECKS } from './hand_navigation.mjs';
import { PLACE_CHECKS } from './hand_places.mjs';
import { LINK_CHECKS } from './hand_links.mjs';
import { FEEL_CHECKS } from './hand_feel.mjs';
import { COPC_CHECKS } from './hand_copc.mjs';
import { FILTER_CHECKS } from './hand_filters.mjs';
import { LIVE_CHECKS } from './hand_live.mjs';
import { CLOUD_CHECKS } from './hand_clouds.mjs';
import { HOSTILE_CHECKS } from './hand_hostile.mjs';
import { MARKS_CHECKS } from './hand_marks.mjs';
import { MEASURE_CHECKS } from './hand_measure.mjs';
import { FIGURE_CHECKS } from './hand_figures.mjs';
import { COLOUR_CHECKS } from './hand_colours.mjs';
import { MAPS_CHECKS } from './hand_maps.mjs';
import { PREVIEW_CHECKS } from './hand_preview.mjs';
import { SAVE_CHECKS } from './hand_save.mjs';
import { MOVING_CHECKS } from './hand_moving.mjs';
import { VIEW_CHECKS } from './hand_views.mjs';

const MAX_CHECK_MS = 90000;

function parseArguments(args) {
    const o = { mote: null, dist: null, out: 'browser-test', share: 1, names: [] };
    for (let i = 0; i < args.length; i++) {
        if (args[i] === '--mote') o.mote = resolve(args[++i]);
        else if (args[i] === '--dist') o.dist = resolve(args[++i]);
        else if (args[i] === '--out') o.out = args[++i];
        else if (args[i] === '--share') o.share = Number(args[++i]);
        else o.names.push(args[i]);
    }
    return o;
}

const ALL_CHECKS = { ...PLACE_CHECKS, ...NAVIGATION_CHECKS, ...ATTRIBUTE_CHECKS, ...LINK_CHECKS, ...COPC_CHECKS, ...FILTER_CHECKS, ...MEASURE_CHECKS, ...FEEL_CHECKS, ...FIGURE_CHECKS, ...MARKS_CHECKS, ...SAVE_CHECKS, ...MAPS_CHECKS, ...COLOUR_CHECKS, ...MOVING_CHECKS, ...VIEW_CHECKS, ...HOSTILE_CHECKS, ...CLOUD_CHECKS, ...PREVIEW_CHECKS, ...LIVE_CHECKS };

// A check that serves for itself is alone({ mote, folder, out, openPage }). Any other: data(folder, mote) makes a data set and gives the path to serve where that is not the folder.
async function check(context, o, name, one) {
    if (!one.alone) return checkPage(context, o, one);
    const folder = mkdtempSync(join(tmpdir(), 'mote-by-hand-'));
    const open = async (url) => {
        const opened = await openPage(context, DESKTOP);
        await opened.page.goto(url);
        return opened;
    };
    return one.alone({ mote: o.mote, folder, out: o.out, openPage: open }).finally(() => rmSync(folder, { recursive: true, force: true }));
}

async function checkPage(context, o, { data, query = '', viewport = DESKTOP, isSite, noIdle, loud, before, run }) {
    const folder = mkdtempSync(join(tmpdir(), 'mote-by-hand-'));
    let server = null;
    let page = null;
    try {
        const served = data(folder, o.mote);
        const path = typeof served === 'string' ? served : folder;
        // mote view serves a data set alone; folders side by side are what a site on the web has.
        server = o.dist ? await startStatic(path, { dist: o.dist }) : await startServer(isSite ? null : o.mote, path);
        const opened = await openPage(context, viewport);
        page = opened.page;
        await before?.(page);
        await page.goto(withQuery(server.url, PLAIN, query));
        await page.addStyleTag({ content: BARE });
        if (!noIdle) await idle(page);
        await run({ page, url: server.url, out: o.out, folder, dist: o.dist ?? DIST, mote: o.mote, context, problems: opened.problems });
        if (!loud) assert.deepEqual(opened.problems, [], 'the console must stay quiet');
    } finally {
        await page?.close();
        const closed = closeServer(server, folder);
        closed.catch(() => {}); // told of at the end, where all are waited for
        closing.push(closed);
    }
}

// A server waits up to 2 s for its connections; the next check does not.
const closing = [];
async function closeServer(server, folder) {
    await server?.close().finally(() => rmSync(folder, { recursive: true, force: true }));
}

const FAMILIES = 6; // their variants take turns of two and three
const DIST = resolve(new URL('../../viewer/dist', import.meta.url).pathname);
const options = parseArguments(process.argv.slice(2));
if (!existsSync(join(options.dist ?? DIST, 'index.html'))) throw new Error('the page is not built: make viewer');
mkdirSync(options.out, { recursive: true });
const chosen = inTurn(Object.entries(ALL_CHECKS), options.share, FAMILIES).filter(([, { needsMote }]) => options.mote || !needsMote)
    .filter(([name]) => options.names.length === 0 || options.names.some((part) => name.includes(part)));
let failed = 0;
await withBrowser(async (context) => {
    for (const [name, one] of chosen) {
        const start = Date.now();
        try {
            await withTimeout(check(context, options, name, one), one.maxMs ?? MAX_CHECK_MS, name);
            console.log(`  ok    ${name} (${Date.now() - start} ms)`);
        } catch (error) {
            failed++;
            console.log(`  FAIL  ${name}: ${error?.message ?? error}`);
        }
    }
});
for (const result of await Promise.allSettled(closing)) {
    if (result.status !== 'rejected') continue;
    failed++;
    console.log(`  FAIL  closing a server: ${result.reason?.message ?? result.reason}`);
}
console.log(failed === 0 ? 'all well' : `${failed} failures`);
process.exit(failed === 0 ? 0 : 1);
