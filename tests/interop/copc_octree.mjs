// A COPC file as the package copc sees it, and what must hold of any.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { eachRecord } from './records.mjs';
import { parseHeader, position } from './las_file.mjs';

const require = createRequire(new URL('../../viewer/package.json', import.meta.url));
const { Copc } = require('copc');
const { createLazPerf } = require('laz-perf');

const lazPerf = await createLazPerf();

const INFO_BYTES = 160;
const keyOf = (name) => name.split('-').map(Number);

// All pages of the hierarchy; a page or a node that comes twice is an error.
async function loadNodes(path, copc) {
    const nodes = new Map();
    const seen = new Set();
    const open = [copc.info.rootHierarchyPage];
    for (const page of open) {
        assert.ok(!seen.has(page.pageOffset), `the page at ${page.pageOffset} comes once`);
        seen.add(page.pageOffset);
        const content = await Copc.loadHierarchyPage(path, page);
        open.push(...Object.values(content.pages));
        for (const [name, node] of Object.entries(content.nodes)) {
            assert.ok(!nodes.has(name), `node ${name} comes once`);
            nodes.set(name, node);
        }
    }
    return { nodes, pages: seen.size };
}

// The nodes make one tree, and their chunks lie one beside the other among the points.
function checkTree(nodes, header, evlrsAt) {
    assert.ok(nodes.has('0-0-0-0'), 'there is a root');
    const chunks = [];
    for (const [name, node] of nodes) {
        const [depth, ...cell] = keyOf(name);
        assert.ok(cell.every((c) => c >= 0 && c < 2 ** depth), `the key ${name} is a cell of its depth`);
        const parent = [depth - 1, ...cell.map((c) => c >> 1)].join('-');
        assert.ok(depth === 0 || nodes.has(parent), `the parent of ${name} is there`);
        if (node.pointCount > 0) chunks.push({ name, from: node.pointDataOffset, bytes: node.pointDataLength });
    }
    chunks.sort((a, b) => a.from - b.from);
    let end = header.pointsAt + 8; // behind the offset of the chunk table
    for (const chunk of chunks) {
        assert.ok(chunk.from >= end && chunk.bytes > 0, `the chunk of ${chunk.name} begins behind the one before`);
        end = chunk.from + chunk.bytes;
    }
    assert.ok(end <= evlrsAt, 'the chunks end before the extended records');
    return chunks.map((chunk) => chunk.name);
}

// The cube of a node, grown by half a step of the coordinates, to which they are rounded.
function cubeOf(name, info, header) {
    const [depth, ...cell] = keyOf(name);
    return cell.map((c, k) => {
        const side = (info.cube[k + 3] - info.cube[k]) / 2 ** depth;
        const low = info.cube[k] + c * side;
        return [low - header.scale[k] / 2, low + side + header.scale[k] / 2];
    });
}

function checkInside(name, records, info, header, range) {
    const cube = cubeOf(name, info, header);
    let i = 0;
    for (const record of eachRecord(records, header.recordBytes)) {
        const at = position(record, header);
        for (let k = 0; k < 3; k++) {
            assert.ok(at[k] >= cube[k][0] && at[k] <= cube[k][1], `point ${i} of node ${name} lies in its cube: ${at}`);
            range.min[k] = Math.min(range.min[k], at[k]);
            range.max[k] = Math.max(range.max[k], at[k]);
        }
        const time = record.readDoubleLE(22);
        range.gps = [Math.min(range.gps[0], time), Math.max(range.gps[1], time)];
        i++;
    }
}

// The package's own view of a node gives the coordinates that the records hold.
async function checkView(path, copc, name, node, records, header) {
    const view = await Copc.loadPointDataView(path, copc, node, { lazPerf });
    assert.equal(view.pointCount, node.pointCount, `the view of ${name} holds all its points`);
    const get = ['X', 'Y', 'Z'].map((axis) => view.getter(axis));
    const last = view.pointCount - 1;
    const expected = position(records.subarray(last * header.recordBytes), header);
    get.forEach((getter, k) => assert.ok(Math.abs(getter(last) - expected[k]) <= header.scale[k], `the view of ${name}`));
}

function checkRange(range, copc, header) {
    for (let k = 0; k < 3; k++) {
        const slack = header.scale[k] / 2;
        assert.ok(Math.abs(range.min[k] - header.min[k]) <= slack, `smallest coordinate ${k}: ${range.min[k]}`);
        assert.ok(Math.abs(range.max[k] - header.max[k]) <= slack, `largest coordinate ${k}: ${range.max[k]}`);
    }
    assert.deepEqual(range.gps, copc.info.gpsTimeRange, 'the range of GPS times');
}

function checkInfo(file, header, copc) {
    assert.equal(header.minor, 4, 'LAS 1.4');
    assert.ok([6, 7, 8].includes(header.format), 'point format 6, 7 or 8');
    assert.equal(copc.vlrs[0].userId, 'copc', 'the first record is the one of COPC');
    assert.equal(copc.vlrs[0].contentLength, INFO_BYTES, 'the bytes of the COPC record');
    assert.ok(file.subarray(429 + 72, 429 + INFO_BYTES).every((byte) => byte === 0), 'its reserved bytes are zero');
    const sides = [0, 1, 2].map((k) => copc.info.cube[k + 3] - copc.info.cube[k]);
    assert.ok(sides.every((side) => side > 0 && Math.abs(side - sides[0]) <= 1e-6 * side), `a cube: ${sides}`);
    assert.ok(copc.info.spacing > 0 && copc.info.spacing <= sides[0], `spacing ${copc.info.spacing}`);
}

// Loads every node. exact: header box and GPS range are those of the points. Returns the nodes' records, in the order
// of the file.
export async function readCopc(path, { exact = true } = {}) {
    const file = readFileSync(path);
    const header = parseHeader(file);
    const copc = await Copc.create(path);
    checkInfo(file, header, copc);
    const { nodes, pages } = await loadNodes(path, copc);
    const names = checkTree(nodes, header, Number(file.readBigUInt64LE(235)));
    const range = { min: [1, 1, 1].map(() => Infinity), max: [1, 1, 1].map(() => -Infinity), gps: [Infinity, -Infinity] };
    const pieces = [];
    for (const name of names) {
        const node = nodes.get(name);
        const records = Buffer.from(await Copc.loadPointDataBuffer(path, copc.header, node, lazPerf));
        assert.equal(records.length, node.pointCount * header.recordBytes, `the bytes of node ${name}`);
        checkInside(name, records, copc.info, header, range);
        await checkView(path, copc, name, node, records, header);
        pieces.push(records);
    }
    const records = Buffer.concat(pieces);
    assert.equal(records.length / header.recordBytes, header.count, 'the nodes hold as many points as the header says');
    if (exact && header.count > 0) checkRange(range, copc, header);
    return { header, records, pages, nodes: names.length, depth: Math.max(...names.map((name) => keyOf(name)[0])) };
}
