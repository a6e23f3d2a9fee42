// Files dropped on the page: they are read in pieces like those of a server, under addresses that only this page knows.
const BASE = 'https://dropped.invalid/';
const files = new Map();

export function addressOf(file) {
    const url = new URL(`${BASE}${files.size + 1}/${encodeURIComponent(file.name)}`).href;
    files.set(url, file);
    return url;
}

export const isLocal = (url) => url.startsWith(BASE);
export const localFile = (url) => files.get(url) ?? null;
