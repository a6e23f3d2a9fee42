// Brings all nodes of a cloud that reach into an area, whatever is drawn: coarse ones first, a few requests at a time, each
// node handed on as it is decoded and kept nowhere.
import { State } from './hierarchy.js';
import { nextRun } from './requests.js';
import { DataError, OfflineError, told } from './errors.js';

const MAX_REQUESTS = 4; // beside those of the picture
const WAIT_MS = 50; // for a part of the hierarchy that the picture is loading
const PAUSE_MS = 1000; // after the server was not reached
const TRIES = 5;

const wait = (ms, signal) => new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
    }, { once: true });
});

// What passes by itself is tried again.
async function patiently(work, signal) {
    for (let tries = 1; ; tries++) {
        try {
            return await work();
        } catch (error) {
            if (!(error instanceof OfflineError) || tries === TRIES) throw error;
            await wait(PAUSE_MS * tries, signal);
        }
    }
}

async function open(dataset, node, signal) {
    while (node.chunkState === State.LOADING) await wait(WAIT_MS, signal);
    if (!node.proxy) return;
    node.chunkState = State.LOADING;
    try {
        await patiently(() => dataset.loadChunk(node, signal), signal);
        node.chunkState = State.READY;
    } catch (error) {
        node.chunkState = State.EMPTY;
        throw error;
    }
}

// Those that hold points of the cloud: of replacing sets the leaves. touches(node) -> whether it reaches into the area.
async function listNodes({ dataset, scheme }, touches, signal) {
    const found = [];
    for (let level = dataset.root ? [dataset.root] : []; level.length > 0;) {
        await Promise.all(level.filter(({ proxy }) => proxy).map((node) => open(dataset, node, signal)));
        const holds = ({ numPoints, children }) => numPoints > 0 && (scheme !== 'replacing' || !children?.some(Boolean));
        found.push(...level.filter(holds));
        level = level.flatMap(({ children }) => (children ?? []).filter((child) => child && touches(child)));
    }
    return found;
}

async function bring({ dataset }, { offset, size, nodes }, read, signal, use) {
    const bytes = size > 0 ? await patiently(() => dataset.fetchNodes(offset, size, signal), signal) : new ArrayBuffer(0);
    for (const node of nodes) {
        const start = node.byteOffset - offset;
        const own = nodes.length === 1 ? bytes : bytes.slice(start, start + node.byteSize);
        const result = await read(node, own);
        signal.throwIfAborted();
        await use(node, result);
    }
}

// touches(node): whether it may hold points that are wanted; read(node, bytes) decodes them, with steps; use(node, what was
// read); told(points so far, points of all these nodes) after each. Throws where anything is missing: a figure of fewer points
// would be another figure.
export async function gather(cloud, touches, { signal, read, use, told }) {
    const nodes = await listNodes(cloud, touches, signal);
    const total = nodes.reduce((sum, { numPoints }) => sum + numPoints, 0);
    let done = 0;
    told(done, total);
    let wanted = nodes;
    const own = new AbortController();
    const both = AbortSignal.any ? AbortSignal.any([signal, own.signal]) : signal;
    const work = async () => {
        while (wanted.length > 0) {
            const run = nextRun(wanted);
            const taken = new Set(run.nodes);
            wanted = wanted.filter((node) => !taken.has(node));
            await bring(cloud, run, read, both, async (node, result) => {
                if (result.steps?.length !== 3 * node.numPoints) throw told(DataError, 'gather.short', { name: node.name });
                await use(node, result);
                told((done += node.numPoints), total);
            });
        }
    };
    try {
        await Promise.all(Array.from({ length: MAX_REQUESTS }, work));
    } catch (error) {
        own.abort();
        throw error;
    }
}
