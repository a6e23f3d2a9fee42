// A decoding worker: bytes of one node in, arrays out, all moved and never copied.
import { decompress } from './data/brotli.js';
import { decodeNode } from './data/decode.js';
import { decodeLaz } from './data/copc/laz.js';
import { causeOf, DataError, told } from './data/errors.js';

async function work({ job, bytes }) {
    let raw = new Uint8Array(bytes);
    try {
        if (job.encoding === 'BROTLI') raw = await decompress(raw, job.layout.brotliStride * job.numPoints, job.forceWasm);
        if (job.encoding === 'LAZ') raw = await decodeLaz(job.laz, raw, job.numPoints);
    } catch (error) {
        throw told(DataError, 'decode.node', { file: job.file, node: job.name, why: causeOf(error) });
    }
    return decodeNode(job, raw);
}

self.onmessage = async ({ data }) => {
    try {
        const result = await work(data);
        const arrays = [result.position, result.rgb, result.steps, result.raw, ...result.scalars.map((s) => s.values)];
        self.postMessage({ id: data.id, result }, arrays.filter(Boolean).map((a) => a.buffer));
    } catch (error) {
        self.postMessage({ id: data.id, error: causeOf(error) });
    }
};
