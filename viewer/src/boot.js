// Runs before the large app.js has arrived: starts the first worker and asks for the first bytes of the data set.
import { WorkerPool } from './data/worker_pool.js';
import { dataUrl } from './data/dataset.js';
import { startRequests } from './data/open_dataset.js';

import('./texts/texts.js'); // while the first bytes travel

const boot = { pool: new WorkerPool(new URL('worker.js', import.meta.url)), url: null, requests: null, error: null };
try {
    // What the address names; else what the page was exported with.
    const given = new URLSearchParams(location.search).get('data') ?? document.querySelector('meta[name=mote-data]')?.content;
    boot.url = dataUrl(given, location.href);
    boot.requests = startRequests(boot.url);
} catch (error) {
    boot.error = error;
}
globalThis.moteBoot = boot;
// Until the page is there: what waits for it may wait now.
globalThis.mote = { ready: new Promise((done) => (boot.isReady = done)) };
globalThis.mote.ready.catch(() => {}); // it is told on the page
