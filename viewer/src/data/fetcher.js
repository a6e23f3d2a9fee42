// HTTP with words: whole files and byte ranges, where each failure says what to do about it.
import { DataError, isAbort, OfflineError } from './errors.js';
import { isLocal, localFile } from './local_files.js';

// Without Range support the server sends the whole file for each node; beyond this that is hopeless.
const MAX_WHOLE_FILE = 256 * 1024 * 1024;

const RETRIED = new Set([408, 429, 500, 502, 503, 504]); // what passes

const fileName = (url) => decodeURIComponent(new URL(url).pathname.split('/').pop());

const isForeign = (url) => Boolean(globalThis.location) && new URL(url).origin !== globalThis.location.origin;

// A browser does not say whether a server was not reached or did not allow this page to read. Asked without reading, a
// server that is there answers.
async function whyNoAnswer(url) {
    if (!isForeign(url)) return new OfflineError(`The server does not answer (${fileName(url)}). Is mote view still running?`);
    const { origin } = new URL(url);
    const isThere = await fetch(url, { mode: 'no-cors', headers: {}, cache: 'no-store', method: 'HEAD' }).then(() => true, () => false);
    if (!isThere) return new OfflineError(`The server ${origin} does not answer (${fileName(url)}).`);
    return new DataError(`The server ${origin} does not allow pages of ${globalThis.location.origin} to read ${fileName(url)}. Whoever runs it can allow it `
        + 'with the header "Access-Control-Allow-Origin: *" and, for requests of byte ranges, "Access-Control-Allow-Headers: Range".');
}

async function request(url, options) {
    let response;
    try {
        response = await fetch(url, options);
    } catch (error) {
        if (isAbort(error)) throw error;
        throw await whyNoAnswer(url);
    }
    if (response.ok) return response;
    if (response.status === 416)
        throw new DataError(`${fileName(url)} ends early: it is incomplete or belongs to another data set.`);
    if (RETRIED.has(response.status)) throw new OfflineError(`The server says ${response.status} ${response.statusText} (${fileName(url)}).`);
    const hint = response.status === 404 ? 'It is not there.' : `The server says ${response.status} ${response.statusText}.`;
    throw Object.assign(new DataError(`Cannot read ${fileName(url)}. ${hint}`), { isMissing: [403, 404].includes(response.status) });
}

export async function fetchJson(url, signal) {
    const response = await request(url, { signal, cache: 'no-cache' });
    const text = await response.text();
    try {
        return parseJson(text);
    } catch (error) {
        throw new DataError(`${fileName(url)} is not valid JSON: ${error.message}`);
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
        throw new OfflineError(`The connection broke while ${fileName(url)} was read.`);
    }
}

async function readLocal(url, offset, size, orLess) {
    const file = localFile(url);
    if (!file) throw new DataError(`${fileName(url)} was dropped on another page: drop it again.`);
    let bytes;
    try {
        bytes = await file.slice(offset, offset + size).arrayBuffer();
    } catch (error) {
        throw new DataError(`${fileName(url)} cannot be read any more: ${error.message}`);
    }
    if (bytes.byteLength < size && !orLess) throw new DataError(`${fileName(url)} ends early: it is incomplete.`);
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
            throw new DataError(`The server does not support Range requests, which ${fileName(url)} needs.`);
    }
    let bytes = await body(response, url);
    if (response.status !== 206) bytes = bytes.slice(offset, offset + size);
    if (bytes.byteLength > size || (bytes.byteLength < size && !orLess))
        throw new DataError(`${fileName(url)} ends early: it is incomplete or belongs to another data set.`);
    return bytes;
}
