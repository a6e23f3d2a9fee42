// How a view begins: where nearly all points are, rooms, one budget for several clouds.
import test from 'node:test';
import assert from 'node:assert/strict';
import { createRoot, State } from '../../viewer/src/data/hierarchy.js';
import { restOf } from '../../viewer/src/data/rest.js';
import { ceilingCut } from '../../viewer/src/view/ceiling.js';
import { isSurvey } from '../../viewer/src/view/upright.js';
import { hasTails, quantileRange } from '../../viewer/src/view/colouring.js';
import { seesDots } from '../../viewer/src/view/pick.js';
import { selectTogether } from '../../viewer/src/view/traversal.js';

// A tree of the paths of its leaves, each with so many points.
function treeOf(leaves, corner = [0, 0, 0]) {
    const root = createRoot({ corner, side: [1024, 1024, 1024], spacing: 8, firstChunkSize: 22 });
    root.proxy = null;
    for (const [path, points] of Object.entries(leaves)) {
        let node = root;
        for (const digit of path) {
            node.children ??= new Array(8).fill(null);
            node = node.children[digit] ??= node.child(Number(digit));
        }
        node.numPoints = points;
    }
    return root;
}

test('a few strays are cut off by the hierarchy alone; what is not stretched has no rest', () => {
    const rest = restOf(treeOf({ '00000': 5000, '00001': 5000, 7: 3 }));
    assert.deepEqual(rest, { min: [0, 0, 0], max: [32, 32, 64] });
    assert.equal(restOf(treeOf({ '00000': 500, 7: 300 })), null, 'two clusters are no strays');
    assert.equal(restOf(treeOf({ 0: 500, 7: 300 })), null);
    assert.equal(restOf(treeOf({})), null, 'one node');
});

const places = (list) => [list.length, (i) => list[i]];
function sheets(heights, walls = 0) {
    const list = [];
    for (let x = 0; x < 40; x++) for (let y = 0; y < 40; y++) for (const h of heights) list.push([x / 5, y / 5, h]);
    for (let i = 0; i < walls; i++) list.push([0, (i % 40) / 5, (3 * Math.floor(i / 40)) / (walls / 40)]);
    return list;
}

test('a room is cut below its ceiling; sheets without walls, roofs and slopes are no rooms', () => {
    const cut = ceilingCut(...places(sheets([0, 3], 800)));
    assert.ok(cut > 2.6 && cut < 3, `${cut}`);
    // Through the windows the ground around is seen, and trees higher than the room.
    const outside = Array.from({ length: 400 }, (_, i) => [8 + ((i * 7) % 40), ((i * 13) % 40) - 17, ((i * 3) % 8) - 1]);
    const open = ceilingCut(...places([...sheets([0, 3], 800), ...outside]));
    assert.ok(open > 2 && open < 3, `with windows: ${open}`);
    assert.equal(ceilingCut(...places(sheets([0, 3]))), null, 'two sheets');
    assert.equal(ceilingCut(...places(sheets([0], 800))), null, 'no ceiling');
    const roof = sheets([0], 800).map(([x, y, h]) => [x, y, h === 0 && x > 3 ? 3 : h]);
    assert.equal(ceilingCut(...places(roof)), null, 'nothing is known below the roof');
    assert.equal(ceilingCut(...places(sheets([0, 3], 800).map(([x, y, h]) => [x, y, h + x]))), null, 'a slope');
    assert.equal(ceilingCut(...places(sheets([0, 3], 800).slice(0, 100))), null, 'few points');
    assert.equal(ceilingCut(...places(new Array(600).fill([1, 1, 1]))), null, 'one place');
    assert.equal(ceilingCut(0, () => null), null);
});

test('a room is higher than a person, or, where units are not known, no sheet: flat ground with noise is none', () => {
    let state = 1;
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
    const gauss = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    const flat = (noise, width, count = 20000) =>
        Array.from({ length: count }, () => [random() * width, random() * width, 200 + noise * gauss()]);
    for (const metres of [0, 1, 0.3048]) {
        for (const [noise, width] of [[0.01, 100], [0.1, 100], [0.002, 10]]) {
            for (const count of [600, 3000, 20000]) {
                const cut = ceilingCut(...places(flat(noise, width, count)), metres);
                assert.equal(cut, null, `${noise} over ${width}, ${count} points, ${metres} m`);
            }
        }
    }
    const room = places(sheets([0, 3], 800));
    assert.ok(ceilingCut(...room, 1) > 2.6);
    assert.equal(ceilingCut(...room, 0.3048), null, 'three feet');
    const millimetres = places(sheets([0, 3], 800).map((place) => place.map((c) => c * 1000)));
    assert.ok(ceilingCut(...millimetres, 0.001) > 2600);
    assert.ok(ceilingCut(...millimetres) > 2600);
    const table = places(sheets([0, 3], 800).map((place) => place.map((c) => c / 10)));
    assert.equal(ceilingCut(...table, 1), null, 'a model of a room');
});

test('attics and low rooms beside halls open, too; woods, towns and canopies over a part do not', () => {
    let state = 1;
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
    const noise = (m) => m * (random() + random() + random() - 1.5);
    // Floor, ceiling, four walls and a table, by their areas.
    const building = (width, length, ceilingAt, count, unit = 1) => Array.from({ length: count }, () => {
        const [x, y, what] = [random() * width, random() * length, random()];
        const wall = what < 0.87 ? [x, random() < 0.5 ? 0 : length] : [random() < 0.5 ? 0 : width, y];
        const place = what < 0.35 ? [x, y, 0] : what < 0.75 ? [x, y, ceilingAt(x, y)] : what < 0.97 ? [...wall, random() * ceilingAt(...wall)] : [(0.4 + x / width / 5) * width, (0.4 + y / length / 5) * length, 0.75];
        return place.map((c) => (c + noise(0.01)) / unit);
    });
    const gable = (knee, ridge) => (x) => knee + (ridge - knee) * (1 - Math.abs(x - 4) / 4);
    const rooms = { // its ceiling, and between which heights it is cut
        gable: [8, 10, gable(0.8, 3), 1, 2.2], 'to the floor': [8, 10, gable(0.1, 3), 1, 2.2], low: [8, 10, gable(2.2, 3), 1.9, 2.5], 'lean-to': [8, 10, (x) => 2 + x / 4, 1.8, 2.6],
        hip: [10, 10, (x, y) => 0.8 + 0.48 * Math.min(x, y, 10 - x, 10 - y), 1, 2], vault: [10, 20, (x) => 2 + 4 * Math.sqrt(Math.max(0, 1 - ((x - 5) / 5) ** 2)), 2, 5],
        'room beside a hall': [20, 10, (x) => (x < 8 ? 2.5 : 6), 1.9, 2.5], level: [8, 6, () => 3, 2.6, 3],
    };
    for (const [name, [width, length, ceilingAt, least, most]] of Object.entries(rooms)) {
        for (const [count, unit] of [[20000, 1], [6000, 1], [20000, 0.3048], [20000, 0.001]]) {
            const cut = ceilingCut(...places(building(width, length, ceilingAt, count, unit)), unit) * unit;
            assert.ok(cut > least && cut < most, `${name}, ${count} points of ${unit} m: ${cut}`);
        }
    }
    const trees = Array.from({ length: 60 }, () => [random() * 50, random() * 50, 8 + random() * 10, 2 + random() * 2]);
    const crown = ([x, y, height, radius], a = 2 * Math.PI * random(), u = Math.sqrt(random())) => [x + radius * u * Math.cos(a), y + radius * u * Math.sin(a), height * (1 - u * u / 2) - 2 * random()];
    const block = (x, y, isHouse = (Math.floor(x / 10) + Math.floor(y / 10)) % 3 === 0) => [x, y, isHouse && Math.min(x % 10, y % 10) < 0.3 ? random() * 8 : isHouse ? 8 : 0];
    const outdoors = {
        wood: () => (random() < 0.5 ? [random() * 50, random() * 50, noise(0.1)] : crown(trees[Math.floor(random() * 60)])),
        town: () => block(random() * 100, random() * 100),
        'petrol station': (x = random() * 40, y = random() * 40) => [x, y, x > 10 && x < 30 && y > 15 && y < 25 && random() < 0.5 ? 5 : noise(0.05)],
    };
    for (const [name, placeOf] of Object.entries(outdoors)) for (const count of [3000, 20000]) assert.equal(ceilingCut(...places(Array.from({ length: count }, () => placeOf())), 1), null, name);
});

test('a reference system or several returns tell that heights are along z', () => {
    const bare = { projection: '', isLonLat: false, hasReturns: false, channels: [] };
    assert.equal(isSurvey(bare), false);
    for (const more of [{ projection: 'EPSG:1' }, { isLonLat: true }, { hasReturns: true }, { channels: [{ key: 'number of returns', range: [1, 4] }] }]) assert.equal(isSurvey({ ...bare, ...more }), true);
    assert.equal(isSurvey({ ...bare, channels: [{ key: 'number of returns', range: [1, 1] }] }), false);
    assert.equal(isSurvey({ ...bare, channels: [{ key: 'number of returns', range: null }] }), false);
});

test('ranges are those of nearly all values, unless the tails are short', () => {
    const even = Array.from({ length: 1001 }, (_, i) => i);
    assert.equal(hasTails([0, 1000], quantileRange(even)), false);
    assert.equal(hasTails([0, 1300], quantileRange([...even, 1300])), true);
});

test('one budget for several clouds: the one that is seen from near gets most of it, each that is seen its first node', () => {
    const full = Object.fromEntries(Array.from({ length: 512 }, (_, i) => [i.toString(8).padStart(3, '0'), 100]));
    const [near, far] = [treeOf(full), treeOf(full, [50000, 0, 0])];
    for (const root of [near, far]) root.numPoints = 100;
    const view = { position: [512, 512, 2000], planes: [], pixelsPerRadian: 1000 };
    for (const scheme of ['additive', 'replacing']) {
        const trees = [{ root: near, scheme }, { root: far, scheme }, { root: null, scheme }];
        const [a, b, none] = selectTogether(trees, view, { budget: 20000, maxError: 0.01 });
        const planned = (selection) => selection.keep.reduce((sum, { numPoints }) => sum + numPoints, 0);
        assert.ok(planned(a) > 5 * planned(b), `${scheme}: ${planned(a)} and ${planned(b)}`);
        assert.ok(planned(a) + planned(b) <= (scheme === 'additive' ? 20000 : 25000));
        assert.ok(b.keep.includes(far) && b.budgetReached);
        assert.equal(none.keep.length, 0);
        const [, alone] = selectTogether([{ root: null, scheme }, trees[1]], view, { budget: 20000, maxError: 0.01 });
        assert.ok(planned(alone) > 3 * planned(b), 'what is switched off leaves its share to the others');
    }
});

test('dots are few places with many points', () => {
    const node = { min: [0, 0, 0], numPoints: 200, state: State.READY, payload: { position: new Float32Array(600), box: { min: [0, 0, 0], max: [9, 9, 9] } } };
    const screen = (p) => [p[0] * 100, p[1] * 100];
    assert.equal(seesDots([node], [], screen, 6), true);
    for (let i = 0; i < 200; i++) node.payload.position[3 * i] = i;
    assert.equal(seesDots([node], [], screen, 6), false);
    assert.equal(seesDots([], [], screen, 6), false, 'nothing is no dot');
});
