// How long the first picture takes with two builds of the page, opened in turn, so that what else the machine does slows both:
//   node tests/browser/first_picture.mjs BINARY DIST OTHER_DIST ROUNDS FOLDER_OR_COPC...
// Each data set from `mote view` and from a plain server of files. Prints medians, and the median of the ratios of pairs.
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { openPage, withBrowser } from './browser.mjs';
import { stats } from './checks.mjs';
import { startServer } from './servers.mjs';
import { startStatic } from './static_server.mjs';

const [mote, dist, otherDist, rounds, ...sets] = process.argv.slice(2);
const dists = [resolve(dist), resolve(otherDist)];
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

async function startOf(set, dist, isSite) {
    if (isSite) return startStatic(set, { dist });
    process.env.MOTE_VIEWER = dist;
    return startServer(mote, set);
}

// Of a page that nothing is kept of: a context has no cache after it was cleared.
async function firstPicture(context, url) {
    const { page } = await openPage(context);
    const session = await context.newCDPSession(page);
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.goto(url);
    await page.waitForFunction(() => window.mote?.stats?.().firstPictureMs > 0, null, { timeout: 60000 });
    const { firstPictureMs } = await stats(page);
    await page.close();
    return firstPictureMs;
}

await withBrowser(async (context) => {
    for (const set of sets) {
        for (const isSite of [false, true]) {
            if (isSite && /\.laz$/.test(set)) continue;
            const servers = [];
            for (const dist of dists) servers.push(await startOf(set, dist, isSite));
            const times = [[], []];
            for (const { url } of servers) await firstPicture(context, url);
            for (let i = 0; i < rounds; i++) {
                for (const k of i % 2 === 0 ? [0, 1] : [1, 0]) times[k].push(await firstPicture(context, servers[k].url));
            }
            const ratio = median(times[0].map((t, i) => t / times[1][i]));
            console.log(`${set}${isSite ? ' (plain server)' : ''}: ${times.map((t) => `${Math.round(median(t))} ms`).join(' against ')}, ratio ${ratio.toFixed(2)}, load ${loadavg()[0].toFixed(1)}`);
            for (const server of servers) await server.close();
        }
    }
});
