// What others may send to a server of `mote view`, well or badly meant. One check a run:
//   node view_requests.mjs CHECK MOTE ARGUMENTS OF MOTE VIEW…
// Starts the server, prints what the check has to say, and ends it. MOTE_VIEWER is the folder of a page.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { frame, open } from '../browser/websocket.mjs';

const START_MS = 20000;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function serve(mote, args) {
    const child = spawn(mote, ['view', ...args, '--no-open', '--port', '0', '--for', '120', '-q'], { stdio: ['ignore', 'pipe', 'inherit'] });
    return new Promise((done, failed) => {
        const timer = setTimeout(() => failed(new Error('the server does not start')), START_MS);
        child.once('exit', (code) => failed(new Error(`the server has ended: ${code}`)));
        child.stdout.once('data', (line) => {
            clearTimeout(timer);
            child.removeAllListeners('exit');
            const url = new URL(String(line).trim());
            const end = () => new Promise((ended) => {
                child.once('exit', (code, signal) => ended(code ?? signal));
                child.kill();
            });
            done({ url, pid: child.pid, host: url.hostname.replace(/[[\]]/g, ''), end });
        });
    });
}

// { status, headers, body } of one request.
const ask = ({ host, url }, path, { method = 'GET', headers = {}, body = null, agent = false } = {}) => new Promise((done, failed) => {
    const all = body === null ? headers : { 'Content-Length': body.length, ...headers };
    const req = http.request({ host, port: url.port, path, method, headers: all, agent }, (res) => {
        const parts = [];
        res.on('data', (part) => parts.push(part));
        res.on('end', () => done({ status: res.statusCode, headers: res.headers, body: Buffer.concat(parts) }));
    });
    req.on('error', failed);
    req.end(body);
});

// A connection that says just this; raw.text: what has come, raw.ended: a promise.
function say({ host, url }, text) {
    const socket = connect(Number(url.port), host, () => socket.write(text));
    const raw = { text: '', socket };
    socket.on('data', (data) => (raw.text += data.toString('latin1')));
    socket.on('error', () => {});
    raw.ended = new Promise((done) => socket.on('close', () => done(raw.text)));
    return raw;
}

const seconds = async (work) => {
    const begin = Date.now();
    await work();
    return (Date.now() - begin) / 1000;
};

const policyOf = (headers) => {
    const policy = headers['content-security-policy'] ?? 'none';
    const kind = /default-src 'none'; sandbox;/.test(policy) ? 'data' : /default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/.test(policy) ? 'page' : policy;
    return headers['x-content-type-options'] === 'nosniff' && headers['cross-origin-resource-policy'] === 'same-origin' ? kind : 'without nosniff';
};

const ours = (server) => ({ Origin: server.url.origin });
const put = (server, name, body, headers = ours(server)) => ask(server, `/convert/${name}`, { method: 'PUT', headers, body });

async function converted(server) {
    for (;;) {
        const state = JSON.parse((await ask(server, '/convert')).body);
        if (!['receiving', 'converting'].includes(state.state)) return state;
        await sleep(10);
    }
}

const MEGABYTE = Buffer.alloc(1 << 20);
// The most memory that the server has had, in MB.
const memory = ({ pid }) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const VIEW = 'view seq=1 size=64,64 eye=0,0,9 target=0,0,0 up=0,1,0 fov=50 mode=points color=rgb background=000000';

const CHECKS = {
    // Only the files of a data set, as data.
    async files(server) {
        for (const path of ['metadata.json', 'hierarchy.bin', 'octree.bin', 'evil.html', 'evil.js', 'EVIL.SVG', 'sub/evil.html', 'link.html', 'metadata.json/', './metadata.json', 'metadata.json.html', '']) {
            const { status, headers } = await ask(server, `/data/${path}`);
            console.log(path, status, status === 200 ? headers['content-type'] : '', policyOf(headers));
        }
    },
    async policies(server) {
        const { headers } = await ask(server, '/');
        const { headers: data } = await ask(server, '/data/octree.bin');
        for (const [path, options] of [
            ['/', {}], ['/', { method: 'HEAD' }], ['/', { headers: { 'If-None-Match': headers.etag } }], ['/', { headers: { Range: 'bytes=0-1' } }],
            ['/data/octree.bin', { headers: { 'If-None-Match': data.etag } }], ['/data/octree.bin', { headers: { Range: 'bytes=0-1' } }], ['/data/octree.bin', { headers: { Range: 'bytes=999999999-' } }],
            ['/none', {}], ['/none', { method: 'HEAD' }], ['/%', {}], ['/', { method: 'DELETE' }], ['/', { method: 'OPTIONS' }], ['/', { headers: { Host: 'example.org' } }], ['/convert', {}],
            ['/convert/a.las', { method: 'PUT', body: 'x' }], ['/strip/1', { method: 'POST', body: '' }], ['/cut', {}], ['/cut/1', { method: 'POST', body: '{}' }], ['/', { method: 'POST', body: '' }], ['/', { headers: { 'X-Long': 'x'.repeat(15000) } }],
        ]) {
            const answer = await ask(server, path, options);
            console.log(options.method ?? 'GET', path, answer.status, policyOf(answer.headers));
        }
    },
    // Requests that are none, or that two programs may read differently. What libmicrohttpd refuses by itself, before we
    // are asked, has no policy: words of its own, and nothing of a file or of the request.
    async heads(server) {
        const host = `Host: ${server.url.host}\r\n`;
        const close = 'Connection: close\r\n';
        for (const text of [`GET / HTTP/1.1\r\n\r\n`, `GET / HTTP/1.1\r\n${host}${host}\r\n`, `GET / HTTP/2.0\r\n${host}\r\n`, `GET /\r\n\r\n`,
            `GET / HTTP/1.1\r\n${host}no field\r\n\r\n`, `GET / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`,
            `GET / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 1\r\n\r\n`, `GET / HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
            `GET / HTTP/1.1\r\n${host}Content-Length: ${'9'.repeat(30)}\r\n\r\n`, `PUT /convert/a.las HTTP/1.1\r\n${host}Origin: ${server.url.origin}\r\n${close}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
            `GET / HTTP/1.1\r\n${host}${'A: b\r\n'.repeat(7000)}\r\n`, `GET /${'x'.repeat(40000)}`, `GET / HTTP/1.0\r\n${host}\r\n`]) {
            const answer = await say(server, text).ended;
            console.log(JSON.stringify(text.slice(0, 12)), /(?<=^HTTP\/1.1 )\d+/.exec(answer)?.[0], answer.includes("default-src 'none'"), /x{9}|no field/.test(answer));
        }
        const two = await say(server, `GET /none HTTP/1.1\r\n${host}\r\nGET / HTTP/1.1\r\n${host}${close}\r\n`).ended;
        console.log('two', two.match(/(?<=HTTP\/1.1 )\d+/g).join());
    },
    // What is sent along with a request that is refused does not keep the answer away, nor the next request.
    async refused(server) {
        const host = `Host: ${server.url.host}\r\n`;
        const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        const body = Buffer.alloc(20 << 20);
        const before = memory(server);
        for (const [method, path, headers] of [['PUT', '/convert/a.las', {}], ['POST', '/none', {}], ['DELETE', '/', {}], ['PUT', '/convert/', ours(server)]]) console.log(method, (await ask(server, path, { method, headers, body, agent })).status, (await ask(server, '/', { agent })).status);
        agent.destroy();
        console.log(memory(server) - before < 10 || `${memory(server) - before} MB`);
        // Who asks before sending is told at once.
        const asking = `PUT /convert/a.xyz HTTP/1.1\r\n${host}Connection: close\r\nExpect: 100-continue\r\nContent-Length: `;
        console.log((await say(server, `${asking}99999\r\n\r\n`).ended).slice(0, 12));
        const good = say(server, `${asking}6\r\nOrigin: ${server.url.origin}\r\n\r\n`);
        while (!good.text.includes('\r\n\r\n')) await sleep(10);
        good.socket.write('1 2 3\n');
        console.log((await good.ended).match(/(?<=HTTP\/1.1 )\d+/g).join());
    },
    // By which names a server may be asked.
    async hosts(server) {
        const { port, host } = server.url;
        const names = ['example.org', `example.org:${port}`, 'localhost.example.org', `127.0.0.1.example.org:${port}`, `127.0.0.1@example.org`, `localhost:x`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, '0.0.0.0', host];
        const answers = [];
        for (const name of names) answers.push((await ask(server, '/', { headers: { Host: name } })).status);
        console.log(answers.join(' '));
    },
    // Who may send here.
    async origins(server) {
        const { origin } = server.url;
        for (const headers of [{ Origin: origin }, { Origin: origin, 'Sec-Fetch-Site': 'same-origin' }, {}, { Origin: 'null' }, { Origin: 'http://example.org' }, { Origin: `${origin}1` }, { Origin: origin.replace('http', 'https') },
            { Origin: origin, 'Sec-Fetch-Site': 'cross-site' }, { Origin: origin, 'Sec-Fetch-Site': 'same-site' }]) {
            const { status } = await put(server, 'a.xyz', 'no points', headers);
            const strip = await ask(server, '/strip/1?path=0,0,1,1&width=1', { method: 'POST', headers, body: '' });
            await converted(server);
            const cut = await ask(server, '/cut/1', { method: 'POST', headers, body: '{"features": []}' });
            console.log(JSON.stringify(headers).replaceAll(server.url.port, 'PORT'), status, strip.status, cut.status);
        }
    },
    // Points are cut out one request at a time; what breaks off, is too long or nonsense makes way, and nothing is left behind.
    async cuts(server) {
        const headers = ours(server);
        const cut = async (body, path = '/cut/1') => (await ask(server, path, { method: 'POST', headers, body })).status;
        const all = '{"features": []}';
        console.log(await cut(all), await cut('x'), await cut('[]'), await cut(all, '/cut/7'), await cut(all, '/cut/'));
        const before = memory(server);
        for (let i = 0; i < 20; i++) await cut(Buffer.alloc(9 << 20, ' ')).catch(() => 0);
        console.log(memory(server) - before < 10 || `${memory(server) - before} MB`);
        const begin = `POST /cut/1 HTTP/1.1\r\nHost: ${server.url.host}\r\nOrigin: ${server.url.origin}\r\nContent-Length: 1000\r\n\r\n{`;
        for (let i = 0; i < 3; i++) {
            const half = say(server, begin);
            await sleep(100);
            console.log(await cut(all), (await ask(server, '/cut')).status);
            half.socket.destroy();
            await sleep(200);
            console.log(await cut(all));
        }
        // Nested as deeply as there is room for.
        console.log(await cut('['.repeat(1 << 20)), await cut(`{"features": [${'{"geometry": '.repeat(1 << 16)}`));
        console.log(readdirSync(process.env.TMPDIR ?? '/tmp').filter((name) => name.startsWith('mote-cut-')).length);
    },
    // A file for which there is no place is refused, and makes way for one for which there is.
    async full(server) {
        console.log((await put(server, 'a.las', Buffer.alloc(5 << 20))).status, (await converted(server)).error);
        console.log((await put(server, 'a.xyz', Buffer.from('1 2 3\n'))).status, (await converted(server)).error);
    },
    // Uploads that fail do not use the server up, and those that break off make way at once.
    async uploads(server) {
        for (let i = 0; i < 200; i++) {
            const { status } = await put(server, 'a.las', 'no points');
            if (status !== 202) console.log(i, status);
            const { state } = await converted(server);
            if (state !== 'failed') console.log(i, state);
        }
        const cloud = Buffer.from(Array.from({ length: 100 }, (_, i) => `${i % 10} ${i / 10} 0\n`).join(''));
        for (let i = 0; i < 3; i++) {
            const half = say(server, `PUT /convert/b.xyz HTTP/1.1\r\nHost: ${server.url.host}\r\nOrigin: ${server.url.origin}\r\nContent-Length: 1000000\r\n\r\n1 2 3\n`);
            await sleep(100);
            half.socket.destroy();
            await sleep(100);
            const { status } = await put(server, `good ${i}.xyz`.replace(' ', '%20'), cloud);
            const { state, cloud: number, error } = await converted(server);
            console.log(status, state, number, error, (await ask(server, `/data${number}/metadata.json`)).status);
        }
        // One that stalls holds the place for seconds only.
        const stalled = say(server, `PUT /convert/b.xyz HTTP/1.1\r\nHost: ${server.url.host}\r\nOrigin: ${server.url.origin}\r\nContent-Length: 1000000\r\n\r\n1 2 3\n`);
        const drip = setInterval(() => stalled.socket.write(' '), 200);
        await sleep(200);
        console.log((await put(server, 'c.xyz', cloud)).status);
        console.log(await seconds(() => stalled.ended) < 9);
        clearInterval(drip);
        console.log((await put(server, 'c.xyz', cloud)).status, (await converted(server)).state);
    },
    // What the library has to say of a file reaches the page; beyond the clouds that fit, a file is refused before it is
    // worked on.
    async told(server) {
        const ply = (rest) => Buffer.from(`ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n${rest}`);
        for (const [name, body] of [['a%20%22b%22.ply', ply('end_header\n1 2 3\n2 3 4\n9 9 9\n')], ['c.ply', ply('property list uchar int idx\nend_header\n1 2 3 0\n2 3 4 0\n3 3 3\n')],
            ['d.ply', ply(`${Array.from({ length: 60 }, (_, i) => `property list uchar int list_${i}`).join('\n')}\nend_header\n1 2 3\n4 5 6\n`)]]) {
            const { status } = await put(server, name, body);
            const { state, told, untold } = await converted(server);
            console.log(status, state, JSON.stringify(told.split('\n').slice(0, 2)), told.split('\n').length + untold > 50, untold > 0);
        }
        const statuses = [];
        for (let i = 0; i < 18; i++) {
            statuses.push((await put(server, 'e.xyz', '1 2 3\n4 5 6\n')).status);
            await converted(server);
        }
        console.log(statuses.join());
    },
    // Connections that say nothing, half of a request, or read nothing do not make others wait.
    async idle(server) {
        const head = `GET /data/octree.bin HTTP/1.1\r\nHost: ${server.url.host}\r\n`;
        const many = [];
        for (let i = 0; i < 400; i++) many.push(say(server, ['', 'GET / HT', head, `${head}\r\n`][i % 4]));
        for (const { socket } of many) socket.pause();
        await sleep(500);
        for (let i = 0; i < 3; i++) {
            const spent = await seconds(async () => console.log((await ask(server, '/data/metadata.json')).status));
            if (spent > 2) console.log(`${spent} s`);
        }
        // All but those that were answered end soon. (What the system has not let through to the server does not.)
        const waiting = many.filter((_, i) => i % 4 < 3);
        let gone = 0;
        for (const { socket, ended } of waiting) ended.then(() => gone++, socket.resume());
        for (let i = 0; i < 150 && gone < waiting.length; i++) await sleep(100);
        console.log(gone > 0.9 * waiting.length || gone);
        for (const { socket } of many) socket.destroy();
    },
    // A frame is refused by its header, before any of it is stored.
    async frames(server) {
        const live = new URL('live', server.url).href;
        const before = memory(server);
        for (const lie of [2 ** 31 - 2 ** 17, 2 ** 30, 2 ** 40, 2 ** 62, 5000]) {
            const client = await open(live);
            client.send(frame('x', { lie }));
            for (let i = 0; i < 256; i++) client.send(MEGABYTE);
            console.log(lie, await client.closed);
        }
        for (const [text, options] of [['x'.repeat(1025), {}], [VIEW, { final: false }], [VIEW, { opcode: 0 }], [VIEW, { opcode: 2 }], [VIEW, { opcode: 3 }], ['x'.repeat(126), { opcode: 9 }]]) {
            const client = await open(live);
            client.send(frame(text, options));
            console.log(text.length, await client.closed);
        }
        for (const bytes of [[0x81, 0x01, 0x78], [0xc1, 0x81, 0, 0, 0, 0, 0x78]]) { // without a mask; with a bit that means nothing
            const client = await open(live);
            client.send(Buffer.from(bytes));
            console.log('bytes', await client.closed);
        }
        const pinged = await open(live);
        pinged.send(frame('are you there', { opcode: 9 }));
        pinged.send(frame(VIEW));
        while (!pinged.messages.some((m) => m.opcode === 2)) await sleep(20);
        console.log(pinged.messages.find((m) => m.opcode === 10).body.toString(), memory(server) - before < 100 || `${memory(server) - before} MB`);
        pinged.send(frame('', { opcode: 8 }));
        console.log(await pinged.closed);
        for (const headers of [{ 'Sec-WebSocket-Version': '12' }, { 'Sec-WebSocket-Key': null }, { 'Sec-WebSocket-Key': 'x' }, { Connection: 'close' }, { Upgrade: 'h2c' }]) console.log((await open(live, headers)).status);
    },
};

const [check, mote, ...args] = process.argv.slice(2);
const server = await serve(mote, args);
try {
    await CHECKS[check](server);
} catch (error) {
    console.log(error);
}
console.log('ended', await server.end());
process.exit(0);
