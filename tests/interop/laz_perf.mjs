// Whole LAZ files decoded by laz-perf, compiled to WebAssembly.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../viewer/package.json', import.meta.url));
const { createLazPerf } = require('laz-perf');

// Its C++ exceptions arrive as bare numbers.
function explain(error) {
    return error instanceof Error ? error : new Error(`laz-perf cannot read it (exception ${error})`);
}

let instance = null;

// The records of a whole file. After a failure the next file gets a fresh instance.
export async function decodeWithLazPerf(file) {
    instance ??= await createLazPerf();
    const wasm = instance;
    const place = wasm._malloc(file.length);
    const reader = new wasm.LASZip();
    try {
        wasm.HEAPU8.set(file, place);
        reader.open(place, file.length);
        const count = reader.getCount();
        const recordBytes = reader.getPointLength();
        const point = wasm._malloc(recordBytes);
        const records = Buffer.alloc(count * recordBytes);
        for (let i = 0; i < count; i++) {
            reader.getPoint(point);
            records.set(wasm.HEAPU8.subarray(point, point + recordBytes), i * recordBytes);
        }
        wasm._free(point);
        return { count, recordBytes, format: reader.getPointFormat(), records };
    } catch (error) {
        instance = null;
        throw explain(error);
    } finally {
        reader.delete();
        wasm._free(place);
    }
}
