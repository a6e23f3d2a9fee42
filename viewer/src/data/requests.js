// Groups wanted nodes into few Range requests: neighbours in octree.bin travel together.

const MAX_GAP_BYTES = 16 * 1024; // cheaper to read over than a request of its own
const MAX_RUN_BYTES = 1024 * 1024; // larger runs would delay the nodes behind them
const MAX_RUN_NODES = 24;

// Takes the best of `wanted` (sorted, best first) and whatever of the rest lies next to it in the file.
// Returns { offset, size, nodes }.
export function nextRun(wanted, reach = 128) {
    const first = wanted[0];
    const run = { offset: first.byteOffset, size: first.byteSize, nodes: [first] };
    if (first.level === 0 || first.alone) return run; // the first picture waits for nothing else
    const others = wanted.slice(1, reach).sort((a, b) => a.byteOffset - b.byteOffset);
    const at = others.findIndex((node) => node.byteOffset >= first.byteOffset);
    const after = at < 0 ? [] : others.slice(at);
    const before = at < 0 ? others : others.slice(0, at);
    for (const node of after) if (!join(run, node)) break;
    for (const node of before.reverse()) if (!join(run, node)) break;
    return run;
}

function join(run, node) {
    if (node.alone) return false;
    const start = Math.min(run.offset, node.byteOffset);
    const end = Math.max(run.offset + run.size, node.byteOffset + node.byteSize);
    const gap = end - start - run.size - node.byteSize;
    if (gap > MAX_GAP_BYTES || end - start > MAX_RUN_BYTES || run.nodes.length >= MAX_RUN_NODES) return false;
    run.offset = start;
    run.size = end - start;
    run.nodes.push(node);
    return true;
}
