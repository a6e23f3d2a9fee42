// A websocket client that says just what a test wants it to, right or wrong.
import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';

const KEY = randomBytes(16).toString('base64');

// One frame, masked as those of clients are. lie: the length that it claims, where that is not its own.
export function frame(text, { opcode = 1, final = true, lie = null } = {}) {
    const body = Buffer.from(text);
    const length = lie ?? body.length;
    const head = length < 126 ? Buffer.from([0, 0x80 | length]) : length < 65536 ? Buffer.from([0, 0x80 | 126, length >> 8, length & 255]) : Buffer.alloc(10);
    if (length >= 65536) {
        head[1] = 0x80 | 127;
        head.writeBigUInt64BE(BigInt(length), 2);
    }
    head[0] = (final ? 0x80 : 0) | opcode;
    return Buffer.concat([head, Buffer.alloc(4), body]); // masked with zeros
}

// Connects; resolves with { status } where it is refused, else { send(buffer), messages, closed } of which closed is a
// promise of the code that the server closes with, 0 where it says none.
export function open(url, headers = {}) {
    const { host, hostname, port, pathname, search } = new URL(url);
    const all = { Host: host, Origin: `http://${host}`, Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': KEY, ...headers };
    const lines = Object.entries(all).filter(([, v]) => v !== null).map(([k, v]) => `${k}: ${v}\r\n`).join('');
    return new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines}\r\n`));
        const messages = [];
        let [seen, isOpen, code] = [Buffer.alloc(0), false, 0];
        let ended;
        const closed = new Promise((done) => (ended = done));
        const take = () => {
            for (;;) {
                if (seen.length < 2) return;
                const short = seen[1] & 127;
                const at = short === 126 ? 4 : short === 127 ? 10 : 2;
                if (seen.length < at) return;
                const length = short === 126 ? seen.readUInt16BE(2) : short === 127 ? Number(seen.readBigUInt64BE(2)) : short;
                if (seen.length < at + length) return;
                const body = seen.subarray(at, at + length);
                if ((seen[0] & 15) === 8) code = body.length >= 2 ? body.readUInt16BE(0) : 0;
                else messages.push({ opcode: seen[0] & 15, body: Buffer.from(body) });
                seen = seen.subarray(at + length);
            }
        };
        socket.on('data', (data) => {
            seen = Buffer.concat([seen, data]);
            if (!isOpen) {
                const end = seen.indexOf('\r\n\r\n');
                if (end < 0) return;
                const status = Number(seen.toString('latin1', 9, 12));
                seen = seen.subarray(end + 4);
                if (status !== 101) {
                    socket.destroy();
                    return resolve({ status });
                }
                isOpen = true;
                resolve({ status, messages, closed, send: (buffer) => socket.write(buffer), end: () => socket.destroy() });
            }
            take();
        });
        socket.on('close', () => (isOpen ? ended(code) : resolve({ status: 0 })));
        socket.on('error', (error) => (isOpen ? ended(code) : reject(error)));
    });
}
