// The page over a data folder, by the mote binary or by the small server of the tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startStatic } from './static_server.mjs';
import { withTimeout } from './browser.mjs';

const LIFE_SECONDS = 600; // whatever happens to this process, the server ends by itself

async function startMote(mote, dataset) {
    const child = spawn(mote, ['view', dataset, '--no-open', '--port', '0', '--for', String(LIFE_SECONDS)], {
        stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    let errors = '';
    child.stderr.on('data', (d) => (errors += d));
    const url = withTimeout(new Promise((resolve, reject) => {
        child.stdout.on('data', (d) => {
            text += d;
            const found = /http:\/\/\S+/.exec(text);
            if (found) resolve(found[0]);
        });
        child.on('error', reject);
        child.on('exit', (code) => reject(new Error(`mote view ended with ${code}: ${errors}`)));
    }), 120000, 'mote view');
    url.catch(() => child.kill('SIGKILL'));
    return {
        url: await url,
        close: async () => {
            const ended = once(child, 'exit');
            child.kill('SIGTERM');
            const [code] = await withTimeout(ended, 20000, 'mote view after SIGTERM').catch((e) => {
                child.kill('SIGKILL');
                throw e;
            });
            if (code !== 0) throw new Error(`mote view ended with ${code} after SIGTERM`);
        },
    };
}

export const startServer = (mote, dataset) => (mote ? startMote(mote, dataset) : startStatic(dataset));
