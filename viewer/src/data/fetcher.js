// HTTP with words: whole files and byte ranges, where each failure says what to do about it.
import { DataError, isAbort, OfflineError, told } from './errors.js';
import { isLocal, localFile } from './local_files.js';

// Without Range support the server sends the whole file for each node; beyond this that is hopeless.
const MAX_WHOLE_FILE = 256 * 1024 * 1024;

const RETRIED = new Set([202, 408, 429, 500, 502, 503, 504]); // what passes

const fileName = (url) => decodeURIComponent(new URL(url).pathname.split('/').pop());

const isForeign = (url) => Boolean(globalThis.location) && new URL(url).origin !== globalThis.location.origin;

// A browser does not say whether a server was not reached or did not allow this page to read. Asked without reading, a
// server that is there answers.
async function whyNoAnswer(url) {
    if (!isForeign(url)) return told(OfflineError, 'fetch.own', { name: fileName(url) });
    const { origin } = new URL(url);
    const isThere = await fetch(url, { mode: 'no-cors', headers: {}, cache: 'no-store', method: 'HEAD' }).then(() => true, () => false);
    if (!isThere) return told(OfflineError, 'fetch.other', { origin, name: fileName(url) });
    return told(DataError, 'fetch.cors', { origin, here: globalThis.location.origin, name: fileName(url) });
}

// What `mote view` says of a data set whose octree it is still making; null where that is no reason.
async function makingOf(response) {
    if (response.status !== 202 || !/json/.test(response.headers.get('Content-Type') ?? '')) return null;
    const making = await response.json().catch(() => null);
    return typeof making?.preview === 'string' ? making : null;
}

async function request(url, options) {
    let response;
    try {
        response = await fetch(url, options);
    } catch (error) {
        if (isAbort(error)) throw error;
        throw await whyNoAnswer(url);
    }
    if (response.ok && response.status !== 202) return response;
    if (response.status === 416)
        throw told(DataError, 'fetch.early', { name: fileName(url) });
    if (RETRIED.has(response.status)) {
        const error = told(OfflineError, 'fetch.says', { status: `${response.status} ${response.statusText}`, name: fileName(url) });
        throw Object.assign(error, { making: await makingOf(response) });
    }
    const values = { name: fileName(url), status: `${response.status} ${response.statusText}` };
    throw Object.assign(told(DataError, response.status === 404 ? 'fetch.missing' : 'fetch.cannot', values), { isMissing: [403, 404].includes(response.status) });
}

export async function fetchJson(url, signal) {
    const response = await request(url, { signal, cache: 'no-cache' });
    const text = await response.text();
    try {
        return parseJson(text);
    } catch (error) {
        throw told(DataError, 'fetch.json', { name: fileName(url), why: error.message });
    }
}

// Some writers put NaN and Infinity where JSON has no word for them, as the range of an attribute for instance.
export function parseJson(text) {
    try {
        return JSON.parse(text);
    } catch (error) {
        const mended = text.replace(/([[,:]\s*)-?(?:nan|inf(?:inity)?)(?=\s*[,\]}])/gi, '$1null');
        if (mended === text) throw error;
        return JSON.parse(mended);
    }
}

// The text of a page, or null where there is none.
export const fetchPage = (url) => fetch(url).then((response) => (response.ok ? response.text() : null), () => null);

async function body(response, url) {
    try {
        return await response.arrayBuffer();
    } catch (error) {
        if (isAbort(error)) throw error;
        throw told(OfflineError, 'fetch.broke', { name: fileName(url) });
    }
}

async function readLocal(url, offset, size, orLess) {
    const file = localFile(url);
    if (!file) throw told(DataError, 'fetch.dropped', { name: fileName(url) });
    let bytes;
    try {
        bytes = await file.slice(offset, offset + size).arrayBuffer();
    } catch (error) {
        throw told(DataError, 'fetch.gone', { name: fileName(url), why: error.message });
    }
    if (bytes.byteLength < size && !orLess) throw told(DataError, 'fetch.short', { name: fileName(url) });
    return bytes;
}

// Bytes [offset, offset + size) of a file as an ArrayBuffer. `orLess` accepts a file that ends earlier.
// again: what the browser has kept of it is not to be used, for it was wrong.
export async function fetchRange(url, offset, size, { signal, orLess = false, again = false } = {}) {
    if (isLocal(url)) return readLocal(url, offset, size, orLess);
    const headers = { Range: `bytes=${offset}-${offset + size - 1}` };
    const response = await request(url, { signal, headers, ...(again ? { cache: 'reload' } : {}) });
    if (response.status !== 206) {
        const length = Number(response.headers.get('Content-Length'));
        if (length > MAX_WHOLE_FILE)
            throw told(DataError, 'fetch.range', { name: fileName(url) });
    }
    let bytes = await body(response, url);
    if (response.status !== 206) bytes = bytes.slice(offset, offset + size);
    if (bytes.byteLength > size || (bytes.byteLength < size && !orLess))
        throw told(DataError, 'fetch.early', { name: fileName(url) });
    return bytes;
}
