// An open COPC file: a LAZ file whose chunks are the nodes of an octree, read in pieces by range requests.
import { Dataset } from '../dataset.js';
import { createRoot } from '../hierarchy.js';
import { parseMetadata } from '../metadata.js';
import { loadUnits, withDecidedUnits } from '../units_module.js';
import { fetchRange } from '../fetcher.js';
import { DataError, told } from '../errors.js';
import { headBytes, parseHeader, Part } from './las_header.js';
import { checkPage, parsePage } from './copc_hierarchy.js';

const FIRST_BYTES = 16 * 1024; // header and records, mostly
const MAX_NODE_BYTES = 512 * 1024 * 1024; // of a node's points, decoded

const EVERYTHING = Object.values(Part).reduce((all, part) => all | part, 0);

export const startCopc = (url) => ({ head: fetchRange(url, 0, FIRST_BYTES, { orLess: true }), units: loadUnits().catch(() => null) });

const nameOf = (url) => decodeURIComponent(new URL(url).pathname.split('/').pop()).replace(/(\.copc)?\.la[sz]$/i, '');

export class CopcDataset extends Dataset {
    async open(requests = startCopc(this.url)) {
        let head = await requests.head;
        const size = headBytes(head);
        if (size > head.byteLength) head = await fetchRange(this.url, 0, size);
        const header = parseHeader(head, nameOf(this.url));
        this.laz = header.laz;
        this.head = head.slice(0, size);
        this.meta = parseMetadata(await withDecidedUnits(header.json, header.geo), this.lonLat, header.layout, this.frame);
        const root = createRoot(this.meta);
        root.proxy = header.root;
        if (this.meta.points === 0) return this;
        await this.loadChunk(root);
        this.root = root;
        return this;
    }

    async loadChunk(node, signal) {
        checkPage(node);
        const { offset, size } = node.proxy;
        const bytes = await fetchRange(this.url, offset, size, { signal });
        const limits = { points: this.meta.points, recordBytes: this.laz.recordBytes, bytes: MAX_NODE_BYTES };
        this.nodeCount += parsePage(node, new Uint8Array(bytes), limits);
    }

    fetchNodes(offset, size, signal, again = false) {
        return fetchRange(this.url, offset, size, { signal, again });
    }

    get hasRecords() {
        return true;
    }

    async take(node, bytes, channels) {
        const job = this.jobOf(node, channels, false);
        return this.pool.run({ ...job, steps: true, raw: true, laz: { ...this.laz, parts: EVERYTHING } }, bytes);
    }

    // Only the parts of records that are asked for are decoded.
    jobOf(node, channels, geometry) {
        const job = super.jobOf(node, channels, geometry);
        const { attributes, rgb } = job.layout;
        const parts = channels.map(({ attribute }) => attributes[attribute].part);
        if (geometry) parts.push(attributes[0].part, rgb?.part ?? 0);
        if (node.byteSize > MAX_NODE_BYTES) throw told(DataError, 'copc.bytes', { node: node.name, bytes: node.byteSize });
        return { ...job, file: this.meta.name, laz: { ...this.laz, parts: parts.reduce((all, part) => all | part, 0) } };
    }
}
