// Brings nodes in: few requests at a time, best first, dropped when the view no longer wants them.
import { t } from '../texts/texts.js';
import { State } from './hierarchy.js';
import { nextRun } from './requests.js';
import { NodeCache } from './cache.js';
import { DataError, isAbort, OfflineError } from './errors.js';

const MAX_REQUESTS = 6; // what a browser opens to one server
const MAX_DECODING = 12; // nodes fetched and not yet decoded: more would only sit in memory
const FIRST_PAUSE_MS = 500; // after the server was not reached; doubled each time that it is not
const MAX_PAUSE_MS = 10000;
const TRIES = 2; // of a node whose bytes were wrong
const ABORT_GRACE_MS = 250; // a node that leaves the view for a moment is not thrown away

export class NodeLoader {
    // events { onNode(node, fresh), onDrop(node), onError(message), onChange(), onOffline(message, or null: it answers again) }
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
        this.pauseMs = 0; // while the server is not reached
        this.pauseTimer = null;
        this.generation = 0; // of what is decoded: how it is done may change
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

    // selection: what selectTogether() returned for the newest view.
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

    // The server was not reached: everything waits a while, and is asked for again.
    pause(error) {
        this.events.onOffline(error.message);
        if (this.pauseTimer) return;
        this.pauseMs = Math.min(MAX_PAUSE_MS, 2 * this.pauseMs || FIRST_PAUSE_MS);
        this.pauseTimer = setTimeout(() => {
            this.pauseTimer = null;
            this.events.onChange();
        }, this.pauseMs);
    }

    answered() {
        if (this.pauseMs === 0) return;
        this.pauseMs = 0;
        this.events.onOffline(null);
    }

    // Ends all that is under way.
    close() {
        clearTimeout(this.pauseTimer);
        this.wanted = [];
        this.chunks = [];
        for (const run of this.runs) run.abort.abort();
        for (const node of this.cache.entries.keys()) this.drop(node);
    }

    pump() {
        if (this.pauseTimer) return;
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
            this.answered();
        } catch (error) {
            const isOffline = error instanceof OfflineError;
            node.chunkState = isAbort(error) || isOffline ? State.EMPTY : State.FAILED;
            if (isOffline) this.pause(error);
            else this.report(error);
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
            bytes = size > 0 ? await this.dataset.fetchNodes(offset, size, run.abort.signal, nodes[0].failures > 0) : new ArrayBuffer(0);
            this.answered();
        } catch (error) {
            const isOffline = error instanceof OfflineError;
            if (isOffline) this.pause(error);
            // One bad node must not take its neighbours with it: they are asked for again, each alone.
            const again = isAbort(error) || isOffline || nodes.length > 1 || this.mayTryAgain(nodes[0]);
            for (const node of nodes) {
                this.mark(node, again ? State.EMPTY : State.FAILED);
                if (!isAbort(error) && !isOffline) node.alone = true;
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

    // What was wrong once may have been broken on the way.
    mayTryAgain(node) {
        node.failures = (node.failures ?? 0) + 1;
        return node.failures < TRIES;
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
        const { generation } = this;
        this.decoding++;
        try {
            const result = await this.dataset.decode(node, bytes, channels, fresh);
            if (generation === this.generation) this.accept(node, result, fresh);
            else if (fresh) node.state = State.EMPTY;
        } catch (error) {
            const again = this.mayTryAgain(node);
            node.alone = true;
            this.mark(node, again ? State.EMPTY : State.FAILED);
            if (!again) this.report(error);
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

    // All nodes are to be decoded anew.
    reload() {
        this.generation++;
        this.cache.clear();
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
        this.events.onError(error instanceof DataError ? error.message : t('error.unexpected', { why: error?.message ?? error }), error);
    }
}

// Twice, because the graphics card has its copy.
function payloadBytes({ position, rgb, scalars }) {
    let bytes = position.byteLength + (rgb?.byteLength ?? 0);
    for (const { values } of scalars.values()) bytes += values.byteLength;
    return 2 * bytes;
}
