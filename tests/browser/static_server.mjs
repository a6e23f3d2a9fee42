// The page and one data folder over HTTP with Range requests, for working on the page without the mote binary.
//   node static_server.mjs DATASET [PORT]
import { createServer } from 'node:http';
import { createReadStream, statSync } from 'node:fs';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = resolve(dirname(fileURLToPath(import.meta.url)), '../../viewer/dist');
const TYPES = {
    '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
    '.wasm': 'application/wasm', '.txt': 'text/plain',
};

function serveFile(request, response, root, path) {
    const full = resolve(root, '.' + sep + path);
    let stat;
    try {
        stat = statSync(full);
    } catch {
        stat = null;
    }
    if (!full.startsWith(root) || !stat?.isFile()) return response.writeHead(404).end('not found');
    const headers = { 'Content-Type': TYPES[extname(full)] ?? 'application/octet-stream', 'Accept-Ranges': 'bytes', 'Cache-Control': 'no-cache' };
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    if (!range) {
        response.writeHead(200, { ...headers, 'Content-Length': stat.size });
        return createReadStream(full).pipe(response);
    }
    const start = Number(range[1]);
    const end = Math.min(range[2] ? Number(range[2]) : stat.size - 1, stat.size - 1);
    if (start > end) return response.writeHead(416, { 'Content-Range': `bytes */${stat.size}` }).end();
    response.writeHead(206, { ...headers, 'Content-Length': end - start + 1, 'Content-Range': `bytes ${start}-${end}/${stat.size}` });
    return createReadStream(full, { start, end }).pipe(response);
}

// extra: { '/path': folder } served as well. Resolves to { url, close }.
export function startStatic(dataset, { dist = DIST, port = 0, extra = {} } = {}) {
    const server = createServer((request, response) => {
        const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
        const other = Object.keys(extra).find((prefix) => path.startsWith(prefix));
        if (other) serveFile(request, response, resolve(extra[other]), path.slice(other.length));
        else if (path.startsWith('/data/')) serveFile(request, response, resolve(dataset), path.slice(6));
        else serveFile(request, response, dist, path === '/' ? 'index.html' : path.slice(1));
    });
    return new Promise((done) => server.listen(port, '127.0.0.1', () => done({
        url: `http://127.0.0.1:${server.address().port}/`,
        close: () => new Promise((closed) => {
            server.closeAllConnections?.();
            server.close(closed);
        }),
    })));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
    startStatic(process.argv[2], { port: Number(process.argv[3] ?? 8080) }).then(({ url }) => console.log(url));
