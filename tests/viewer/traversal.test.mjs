// Which nodes are wanted and drawn: both schemes, budget, error, frustum, and no holes while loading.
import test from 'node:test';
import assert from 'node:assert/strict';
import { createRoot, parseChunk, RECORD_BYTES, State } from '../../viewer/src/data/hierarchy.js';
import { distanceToBox, intersectsBox, screenError, selectTogether } from '../../viewer/src/view/traversal.js';
import { OrbitCamera } from '../../viewer/src/view/orbit_camera.js';
import { MaxHeap } from '../../viewer/src/view/heap.js';
import { nextRun } from '../../viewer/src/data/requests.js';
import { NodeCache } from '../../viewer/src/data/cache.js';

const selectNodes = (root, view, { scheme, ...options }) => selectTogether([{ root, scheme }], view, options)[0];

// A full tree of `depth` levels below the root; every node has 100 points.
function tree(depth) {
    const count = [...Array(depth + 1).keys()].reduce((sum, level) => sum + 8 ** level, 0);
    const bytes = Buffer.alloc(count * RECORD_BYTES);
    let at = 0;
    for (let level = 0; level <= depth; level++) {
        for (let i = 0; i < 8 ** level; i++, at += RECORD_BYTES) {
            bytes.writeUInt8(level === depth ? 1 : 0, at);
            bytes.writeUInt8(level === depth ? 0 : 255, at + 1);
            bytes.writeUInt32LE(100, at + 2);
            bytes.writeBigInt64LE(BigInt(at * 100), at + 6);
            bytes.writeBigInt64LE(2200n, at + 14);
        }
    }
    const root = createRoot({ corner: [0, 0, 0], side: [64, 64, 64], spacing: 0.5, firstChunkSize: bytes.length });
    parseChunk(root, new Uint8Array(bytes));
    return root;
}

const nodesOf = (root) => {
    const out = [root];
    for (const n of out) out.push(...(n.children ?? []).filter(Boolean));
    return out;
};

const EVERYWHERE = { position: [32, 32, 200], planes: [], pixelsPerRadian: 1000 };
const options = (scheme, changes = {}) => ({ scheme, budget: 1e9, maxError: 0, ...changes });
const ready = (nodes) => nodes.forEach((n) => (n.state = State.READY));

// Every leaf must have exactly one drawn node among itself and its ancestors.
function assertCovered(root, draw) {
    const drawn = new Set(draw);
    for (const leaf of nodesOf(root).filter((n) => !n.children)) {
        let hits = 0;
        for (let n = leaf; n; n = n.parent) hits += drawn.has(n);
        assert.equal(hits, 1, `leaf ${leaf.name} is covered ${hits} times`);
    }
}

test('additive: all levels add up, and loading never waits for a parent', () => {
    const root = tree(2);
    const first = selectNodes(root, EVERYWHERE, options('additive'));
    assert.equal(first.draw.length, 0);
    assert.equal(first.wanted[0], root);
    assert.equal(first.wanted.length, 73);
    ready(nodesOf(root));
    const all = selectNodes(root, EVERYWHERE, options('additive'));
    assert.equal(all.points, 7300);
    assert.equal(all.wanted.length, 0);
    root.children[3].state = State.EMPTY;
    assert.equal(selectNodes(root, EVERYWHERE, options('additive')).points, 7200);
});

test('replacing: only the leaves remain when everything is there', () => {
    const root = tree(2);
    ready(nodesOf(root));
    const { draw, points, wanted } = selectNodes(root, EVERYWHERE, options('replacing'));
    assert.equal(points, 6400);
    assert.ok(draw.every((n) => n.level === 2));
    assert.equal(wanted.length, 0);
});

test('replacing: whatever is loaded, in any order, space is covered once and only once', () => {
    let seed = 1;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    for (let round = 0; round < 60; round++) {
        const root = tree(2);
        const share = random();
        for (const n of nodesOf(root)) n.state = random() < share ? State.READY : State.EMPTY;
        root.state = State.READY;
        assertCovered(root, selectNodes(root, EVERYWHERE, options('replacing')).draw);
    }
});

test('replacing: a parent goes only when its last child has come; a failed child keeps it', () => {
    const root = tree(1);
    ready(nodesOf(root));
    root.children[5].state = State.LOADING;
    assert.deepEqual(selectNodes(root, EVERYWHERE, options('replacing')).draw, [root]);
    root.children[5].state = State.FAILED;
    const failed = selectNodes(root, EVERYWHERE, options('replacing'));
    assert.deepEqual(failed.draw, [root]);
    assert.equal(failed.wanted.length, 0);
    root.children[5].state = State.READY;
    assert.equal(selectNodes(root, EVERYWHERE, options('replacing')).draw.length, 8);
});

test('replacing: children outside the view are not waited for', () => {
    const root = tree(1);
    ready([root, ...root.children.filter((c) => c.min[0] === 0)]);
    const view = { ...EVERYWHERE, planes: [[-1, 0, 0, 31]] }; // x <= 31
    const { draw, wanted } = selectNodes(root, view, options('replacing'));
    assert.equal(draw.length, 4);
    assert.ok(draw.every((n) => n.level === 1));
    assert.equal(wanted.length, 0);
});

test('replacing: inner nodes are fetched first, and not any more once their children are there', () => {
    const root = tree(2);
    assert.equal(selectNodes(root, EVERYWHERE, options('replacing')).wanted[0], root);
    ready(nodesOf(root).filter((n) => n.level === 2));
    assert.equal(selectNodes(root, EVERYWHERE, options('replacing')).wanted.length, 0);
});

test('nodes without points and unread chunks', () => {
    const root = tree(1);
    ready(nodesOf(root));
    Object.assign(root.children[0], { numPoints: 0, byteSize: 0, state: State.EMPTY });
    assert.equal(selectNodes(root, EVERYWHERE, options('replacing')).draw.length, 7);
    assert.equal(selectNodes(root, EVERYWHERE, options('additive')).wanted.length, 0);
    Object.assign(root.children[1], { proxy: { offset: 9, size: 22 }, state: State.EMPTY });
    const selection = selectNodes(root, EVERYWHERE, options('replacing'));
    assert.deepEqual(selection.chunks, [root.children[1]]);
    assert.deepEqual(selection.draw, [root]);
});

for (const scheme of ['additive', 'replacing']) {
    test(`${scheme}: the budget holds and the nearest nodes come first`, () => {
        const root = tree(3);
        ready(nodesOf(root));
        const view = { position: [4, 4, 4], planes: [], pixelsPerRadian: 1000 };
        for (const budget of [1, 100, 950, 5000, 20000]) {
            const { points, draw, budgetReached } = selectNodes(root, view, options(scheme, { budget }));
            assert.ok(points <= Math.max(budget, 100), `${points} of ${budget}`);
            assert.ok(points > 0);
            assert.ok(budgetReached);
            if (budget >= 5000) assert.ok(draw.some((n) => n.level === 3 && n.min.every((m) => m === 0)));
        }
    });

    test(`${scheme}: a coarser error needs fewer points`, () => {
        const root = tree(3);
        ready(nodesOf(root));
        const counts = [0, 0.5, 1, 2, 4, 100].map((maxError) => selectNodes(root, EVERYWHERE, options(scheme, { maxError })).points);
        for (let i = 1; i < counts.length; i++) assert.ok(counts[i] <= counts[i - 1]);
        assert.equal(counts.at(-1), 100);
        assert.ok(counts[0] > counts[2]);
    });

    test(`${scheme}: nothing outside the view`, () => {
        const root = tree(2);
        const selection = selectNodes(root, { ...EVERYWHERE, planes: [[1, 0, 0, -1000]] }, options(scheme));
        assert.equal(selection.keep.length + selection.wanted.length + selection.draw.length, 0);
    });
}

test('boxes, distances and errors', () => {
    assert.ok(intersectsBox([[1, 0, 0, -1]], [0, 0, 0], [2, 2, 2]));
    assert.ok(!intersectsBox([[1, 0, 0, -3]], [0, 0, 0], [2, 2, 2]));
    assert.equal(distanceToBox([1, 1, 1], [0, 0, 0], [2, 2, 2]), 0);
    assert.equal(distanceToBox([5, 6, 1], [0, 0, 0], [2, 2, 2]), 5);
    const node = { min: [0, 0, 0], size: [1, 1, 1], spacing: 0.1 };
    assert.equal(screenError(node, { position: [0, 0, 11], pixelsPerRadian: 1000 }), 10);
});

test('the camera: fit shows all corners, zoom keeps its point, planes agree with the projection', () => {
    const camera = new OrbitCamera();
    camera.aspect = 1.5;
    const box = { min: [0, 0, 0], max: [200, 100, 20] };
    for (const [yaw, pitch] of [[-0.6, 0.6], [0, Math.PI / 2], [2, 0], [1, -0.5]]) {
        camera.set({ yaw, pitch });
        camera.fit(box);
        const { right, up, forward } = camera.axes();
        const eye = camera.position();
        const dot = (a, b) => a.reduce((s, c, i) => s + c * b[i], 0);
        for (let k = 0; k < 8; k++) {
            const p = box.min.map((m, i) => ((k >> i) & 1 ? box.max[i] : m) - eye[i]);
            const tan = Math.tan(camera.fovY / 2) * dot(p, forward);
            assert.ok(Math.abs(dot(p, up)) <= tan * 1.0001 && Math.abs(dot(p, right)) <= tan * 1.5 * 1.0001);
        }
        assert.ok(intersectsBox(camera.planes(), [90, 40, 5], [1, 1, 1]));
        assert.ok(!intersectsBox(camera.planes(), eye.map((c, i) => c - forward[i] * 50), [1, 1, 1]));
    }
    const seen = (p) => {
        const { right, up, forward } = camera.axes();
        const d = camera.position().map((c, i) => p[i] - c);
        const depth = d.reduce((s, c, i) => s + c * forward[i], 0);
        return [right, up].map((axis) => d.reduce((s, c, i) => s + c * axis[i], 0) / depth);
    };
    const point = [30, 20, 3];
    const before = seen(point);
    camera.zoomAbout(point, 0.4);
    seen(point).forEach((v, i) => assert.ok(Math.abs(v - before[i]) < 1e-9));
});

test('heap, request runs and cache', () => {
    const heap = new MaxHeap();
    const keys = [5, 1, 9, 3, 9, 2, 8];
    keys.forEach((k) => heap.push(k, k));
    assert.deepEqual(keys.map(() => heap.pop()), [9, 9, 8, 5, 3, 2, 1]);

    const node = (byteOffset, byteSize, level = 1) => ({ byteOffset, byteSize, level });
    const wanted = [node(1000, 500), node(9e6, 10), node(1500, 500), node(500, 500), node(2000, 4e6)];
    const run = nextRun(wanted);
    assert.deepEqual([run.offset, run.size, run.nodes.length], [500, 1500, 3]);
    assert.equal(nextRun([node(0, 10, 0), node(10, 10)]).nodes.length, 1);

    const dropped = [];
    const cache = new NodeCache(100, (n) => dropped.push(n));
    ['a', 'b', 'c'].forEach((n) => cache.put(n, 50));
    cache.touch('a');
    cache.trim(new Set(['b']));
    assert.deepEqual([dropped, cache.bytes], [['c'], 100]);
    cache.put('d', 200);
    cache.trim(new Set(['d', 'b']));
    assert.deepEqual([dropped, cache.bytes], [['c', 'a'], 250]);
});
