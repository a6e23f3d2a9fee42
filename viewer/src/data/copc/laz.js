// LAZ for the workers: the library's own decoder, compiled to WebAssembly (viewer/wasm/), fetched at first use.
import { DataError, told } from '../errors.js';

let module = null;
async function load() {
    const response = await fetch(new URL('laz.wasm', self.location.href));
    if (!response.ok) throw told(DataError, 'decode.wasm');
    return (await WebAssembly.instantiate(await response.arrayBuffer())).instance.exports;
}

// The decoder's words are the keys of their texts.
function faultText(laz) {
    const bytes = new Uint8Array(laz.memory.buffer, laz.laz_fault());
    return new TextDecoder().decode(bytes.slice(0, Math.max(0, bytes.indexOf(0))));
}

// The records of one chunk. laz: { format, version, recordBytes, parts }; bytes of parts not asked for mean nothing.
export async function decodeLaz({ format, version, recordBytes, parts }, chunk, points) {
    module ??= load();
    const laz = await module.catch((error) => {
        module = null; // the next node asks again
        throw error;
    });
    const size = chunk.byteLength + points * recordBytes;
    const at = size < 2 ** 32 ? laz.laz_reserve(size) : 0;
    if (at === 0) throw told(DataError, 'not enough memory');
    new Uint8Array(laz.memory.buffer, at, chunk.byteLength).set(chunk);
    const done = laz.laz_decode(format, version, recordBytes, parts, at, chunk.byteLength, points);
    if (done !== points) throw told(DataError, 'decode.fault', { why: { key: faultText(laz) }, done, points });
    return new Uint8Array(laz.memory.buffer, at + chunk.byteLength, points * recordBytes);
}
