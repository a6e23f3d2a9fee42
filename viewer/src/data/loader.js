// Brings nodes in: few requests at a time, best first, dropped when the view no longer wants them.
import { State } from './hierarchy.js';
import { nextRun } from './requests.js';
import { NodeCache } from './cache.js';
import { DataError, isAbort } from './errors.js';

const MAX_REQUESTS = 6; // what a browser opens to one server
const MAX_DECODING = 12; // nodes fetched and not yet decoded: more would only sit in memory
const ABORT_GRACE_MS = 250; // a node that leaves the view for a moment is not thrown away

export class NodeLoader {
    // events { onNode(node, fresh), onDrop(node), onError(message), onChange() }
    constructor(dataset, cacheBytes, events) {
        this.dataset = dataset;
        this.events = events;
        this.cache = new NodeCache(cacheBytes, (node) => this.drop(node));
        this.channels = []; // the scalar channels the picture needs now: of its colours and of filters
        this.eager = []; // channels that every node brings along
        this.wanted = [];
        this.chunks = [];
        this.keep = new Set();
        this.runs = new Set(); // requests under way
        this.decoding = 0;
        this.loading = 0; // nodes and chunks under way
    }

    get busy() {
        return this.loading > 0 || this.wanted.length > 0 || this.chunks.length > 0;
    }

    needsChannel(node) {
        return node.payload !== null && this.channels.some((channel) => !node.payload.scalars.has(channel.key));
    }

    // What a node is decoded for: all that is needed, or what it lacks.
    missingChannels(node) {
        if (node.payload === null) return [...new Set([...this.eager, ...this.channels])];
        return this.channels.filter((channel) => !node.payload.scalars.has(channel.key));
    }

    // selection: what selectNodes() returned for the newest view.
    update(selection) {
        this.keep = new Set(selection.keep);
        for (const node of selection.keep) this.cache.touch(node);
        const recolour = selection.draw.filter((n) => this.needsChannel(n) && !n.channelLoading && !n.channelFailed);
        this.wanted = [...recolour, ...selection.wanted.filter((node) => node.state === State.EMPTY)];
        this.chunks = selection.chunks.filter((node) => node.chunkState === State.EMPTY);
        const now = performance.now();
        const drawn = new Set(selection.draw);
        for (const run of this.runs) {
            if (run.nodes.some((node) => this.keep.has(node) || drawn.has(node))) run.lastWanted = now;
            else if (now - run.lastWanted > ABORT_GRACE_MS) run.abort.abort();
        }
        this.cache.trim(this.keep);
        this.pump();
    }

    pump() {
        while (this.chunks.length > 0 && this.runs.size < MAX_REQUESTS) this.startChunk(this.chunks.shift());
        while (this.wanted.length > 0 && this.runs.size < MAX_REQUESTS && this.decoding < MAX_DECODING) {
            const run = nextRun(this.wanted);
            const taken = new Set(run.nodes);
            this.wanted = this.wanted.filter((node) => !taken.has(node));
            this.startRun(run);
        }
    }

    begin(nodes) {
        const run = { nodes, abort: new AbortController(), lastWanted: performance.now() };
        this.runs.add(run);
        this.loading += nodes.length;
        return run;
    }

    async startChunk(node) {
        const run = this.begin([node]);
        node.chunkState = State.LOADING;
        try {
            await this.dataset.loadChunk(node, run.abort.signal);
            node.chunkState = State.READY;
        } catch (error) {
            node.chunkState = isAbort(error) ? State.EMPTY : State.FAILED;
            this.report(error);
        }
        this.runs.delete(run);
        this.loading--;
        this.events.onChange();
    }

    async startRun({ offset, size, nodes }) {
        const run = this.begin(nodes);
        for (const node of nodes) this.mark(node, State.LOADING);
        let bytes = null;
        try {
            bytes = size > 0 ? await this.dataset.fetchNodes(offset, size, run.abort.signal) : new ArrayBuffer(0);
        } catch (error) {
            // One bad node must not take its neighbours with it: they are asked for again, each alone.
            const again = isAbort(error) || nodes.length > 1;
            for (const node of nodes) {
                this.mark(node, again ? State.EMPTY : State.FAILED);
                if (!isAbort(error)) node.alone = true;
            }
            this.loading -= nodes.length;
            if (!again) this.report(error);
        }
        this.runs.delete(run);
        if (bytes) {
            for (const node of nodes) {
                const start = node.byteOffset - offset;
                const own = nodes.length === 1 ? bytes : bytes.slice(start, start + node.byteSize);
                this.decode(node, own);
            }
        }
        this.events.onChange();
    }

    // A node that is drawn already and only lacks a channel keeps its state, so that it stays on the screen.
    mark(node, state) {
        if (node.payload) {
            node.channelLoading = state === State.LOADING;
            if (state === State.FAILED) node.channelFailed = true;
        } else {
            node.state = state;
        }
    }

    async decode(node, bytes) {
        const fresh = node.payload === null;
        const channels = this.missingChannels(node);
        this.decoding++;
        try {
            this.accept(node, await this.dataset.decode(node, bytes, channels, fresh), fresh);
        } catch (error) {
            this.mark(node, State.FAILED);
            this.report(error);
        }
        this.decoding--;
        this.loading--;
        this.pump();
        this.events.onChange();
    }

    accept(node, result, fresh) {
        if (!fresh && node.payload === null) return; // dropped from memory in the meantime
        node.channelLoading = false;
        if (fresh) {
            node.payload = { position: result.position, box: result.box, rgb: result.rgb, scalars: new Map() };
            node.state = State.READY;
        }
        for (const scalar of result.scalars) node.payload.scalars.set(scalar.key, scalar);
        node.mask = null;
        this.cache.put(node, payloadBytes(node.payload));
        this.events.onNode(node, fresh);
    }

    drop(node) {
        node.payload = null;
        node.mask = null;
        node.state = State.EMPTY;
        node.channelLoading = false;
        this.events.onDrop(node);
    }

    report(error) {
        if (isAbort(error)) return;
        this.events.onError(error instanceof DataError ? error.message : `Unexpected: ${error?.message ?? error}`, error);
    }
}

// Twice, because the graphics card has its copy.
function payloadBytes({ position, rgb, scalars }) {
    let bytes = position.byteLength + (rgb?.byteLength ?? 0);
    for (const { values } of scalars.values()) bytes += values.byteLength;
    return 2 * bytes;
}
