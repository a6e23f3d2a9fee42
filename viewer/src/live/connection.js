// The websocket to a server of live pictures: what it sends, and how it is found again when it was away.
import { table } from '../data/table.js';
import { t } from '../texts/texts.js';

const RETRY_MS = [500, 1000, 2000, 5000];
const HEADER_BYTES = 40;
const KINDS = table({ 1: 'image/jpeg', 2: 'image/png' });

// See cli/view/live/live_picture.h.
export function readPicture(buffer) {
    const v = new DataView(buffer);
    const [columns, rows] = [v.getUint8(18), v.getUint8(19)];
    const body = HEADER_BYTES + 4 * columns * rows;
    return {
        kind: v.getUint32(0, true), number: v.getUint32(4, true), seq: v.getUint32(8, true),
        width: v.getUint16(12, true), height: v.getUint16(14, true), mode: v.getUint8(16), isStill: v.getUint8(17) === 1,
        samples: v.getUint16(20, true), close: v.getUint16(22, true),
        drawMs: v.getFloat32(24, true) * 1000, encodeMs: v.getFloat32(28, true) * 1000, scene: v.getUint32(32, true), pointPixels: v.getUint16(36, true) / 100,
        grid: { columns, rows, depth: new Float32Array(buffer.slice(HEADER_BYTES, body)) },
        bytes: new Uint8Array(buffer, body),
    };
}

// What a browser can draw. Still pictures are not to be changed by anyone's idea of colours.
export async function decodePicture({ kind, width, height, bytes }) {
    if (KINDS[kind]) return createImageBitmap(new Blob([bytes], { type: KINDS[kind] }), { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
    const image = new ImageData(width, height);
    for (let i = 0, at = 0; at < bytes.length; i += 4, at += 3) image.data.set([bytes[at], bytes[at + 1], bytes[at + 2], 255], i);
    return createImageBitmap(image);
}

// Events: 'open', 'away' (a sentence), 'picture', 'said' (an object of the server).
export class Connection extends EventTarget {
    constructor(token) {
        super();
        this.query = token ? `?token=${encodeURIComponent(token)}` : '';
        this.tries = 0;
        this.connect();
    }

    emit(type, detail) {
        this.dispatchEvent(Object.assign(new Event(type), { detail }));
    }

    connect() {
        const url = new URL(`live${this.query}`, location.href);
        url.protocol = 'ws:';
        this.socket = new WebSocket(url);
        this.socket.binaryType = 'arraybuffer';
        this.socket.addEventListener('open', () => {
            this.tries = 0;
            this.emit('open');
        });
        this.socket.addEventListener('message', ({ data }) => {
            if (typeof data === 'string') this.emit('said', JSON.parse(data));
            else this.emit('picture', readPicture(data));
        });
        this.socket.addEventListener('close', ({ reason }) => this.lost(reason));
    }

    // A browser does not tell a page why it was refused: asking for the same by fetch does.
    async lost(reason) {
        const status = await fetch(`live${this.query}`).then((r) => r.status, () => 0);
        if (status === 403) return this.emit('away', t('live.refused'));
        this.emit('away', status === 503 ? t('live.full') : t('live.away', { reason: reason ? ` (${reason})` : '' }));
        setTimeout(() => this.connect(), RETRY_MS[Math.min(this.tries++, RETRY_MS.length - 1)]);
    }

    get isOpen() {
        return this.socket.readyState === WebSocket.OPEN;
    }

    send(text) {
        if (this.isOpen) this.socket.send(text);
    }
}
