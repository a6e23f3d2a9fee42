// Brotli for the workers: the browser's own decoder where there is one, else a bundled WebAssembly decoder,
// which is only downloaded in that case.
import { causeOf, DataError, told } from './errors.js';

const CODE_SUCCESS = 1;

let native = null;
try {
    if (typeof DecompressionStream === 'function') native = () => new DecompressionStream('brotli');
    native?.();
} catch {
    native = null;
}

// Stops as soon as there is more than expected, so that a hostile stream cannot fill the memory.
async function decodeNative(bytes, expected) {
    const out = new Uint8Array(expected);
    const reader = new Blob([bytes]).stream().pipeThrough(native()).getReader();
    let at = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (at + value.byteLength > expected) {
            reader.cancel().catch(() => {});
            throw told(DataError, 'decode.more');
        }
        out.set(value, at);
        at += value.byteLength;
    }
    return out.subarray(0, at);
}

let wasm = null;
function loadWasm() {
    wasm ??= import('brotli-dec-wasm/web').then(async (module) => {
        await module.default({ module_or_path: new URL('brotli.wasm', self.location.href) });
        return module;
    });
    return wasm;
}

async function decodeWasm(bytes, expected) {
    const module = await loadWasm();
    const stream = new module.BrotliDecStream();
    try {
        const result = stream.dec(bytes, expected + 1);
        const out = result.buf;
        if (result.code !== CODE_SUCCESS) throw told(DataError, 'decode.length');
        return out;
    } finally {
        stream.free();
    }
}

// expected: the size in bytes that the hierarchy promises.
export async function decompress(bytes, expected, forceWasm = false) {
    try {
        return await (native && !forceWasm ? decodeNative(bytes, expected) : decodeWasm(bytes, expected));
    } catch (error) {
        throw told(DataError, 'decode.brotli', { why: causeOf(error) });
    }
}
