// A decoding worker: bytes of one node in, arrays out, all moved and never copied.
import { decompress } from './data/brotli.js';
import { decodeNode } from './data/decode.js';

async function work({ job, bytes }) {
    let raw = new Uint8Array(bytes);
    if (job.encoding === 'BROTLI') {
        try {
            raw = await decompress(raw, job.layout.brotliStride * job.numPoints, job.forceWasm);
        } catch (error) {
            throw new Error(`octree.bin: node ${job.name}: ${error.message}`);
        }
    }
    return decodeNode(job, raw);
}

self.onmessage = async ({ data }) => {
    try {
        const result = await work(data);
        const arrays = [result.position, result.rgb, ...result.scalars.map((s) => s.values)];
        self.postMessage({ id: data.id, result }, arrays.filter(Boolean).map((a) => a.buffer));
    } catch (error) {
        self.postMessage({ id: data.id, error: String(error?.message ?? error) });
    }
};
