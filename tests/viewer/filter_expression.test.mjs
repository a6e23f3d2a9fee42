// Filters as an expression of --where, and back.
import test from 'node:test';
import assert from 'node:assert/strict';
import { expressionOf, parseExpression } from '../../viewer/src/view/filter_expression.js';
import { PointFilter } from '../../viewer/src/view/point_filter.js';

const UP = { axis: 2, sign: 1 };
const NAMES = ['intensity', 'gps-time', 'scan angle', 'height above (m)'];

function filterWith(ranges, hidden = [], returns = null) {
    const filter = new PointFilter(null);
    for (const [name, range] of Object.entries(ranges)) filter.ranges.set(name, { channel: null, range });
    filter.hide(hidden);
    filter.returns = returns;
    return filter;
}

test('filters as they are written', () => {
    assert.equal(expressionOf(filterWith({}), UP), '');
    assert.equal(expressionOf(filterWith({ intensity: [10, 20.5], 'gps-time': [3e8, 3e8 + 1] }), UP), 'intensity between 10 and 20.5 && gps_time between 300000000 and 300000001');
    assert.equal(expressionOf(filterWith({ height: [1, 2] }, [7, 1]), UP), 'classification not in (1, 7) && z between 1 and 2');
    assert.equal(expressionOf(filterWith({ height: [1, 2] }), { axis: 1, sign: -1 }), 'y between -2 and -1');
    assert.equal(expressionOf(filterWith({ 'height above (m)': [0, 1] }), UP), '`height above (m)` between 0 and 1');
    const allButTwo = [...Array(256).keys()].filter((code) => code !== 2);
    assert.equal(expressionOf(filterWith({}, allButTwo), UP), 'classification in (2)');
});

test('what is written is read as the same filters', () => {
    for (const returns of [null, 'first', 'last', 'only', 'between']) {
        for (const up of [UP, { axis: 1, sign: -1 }]) {
            const filter = filterWith({ intensity: [-1e-7, 2.5e10], height: [-3, 4], 'scan angle': [0, 0.5], 'height above (m)': [1, 2] }, [3, 250], returns);
            const meant = parseExpression(expressionOf(filter, up), NAMES, up);
            assert.equal(meant.returns, returns);
            assert.deepEqual([...meant.ranges].sort(), [...filter.ranges].map(([name, { range }]) => [name, range]).sort());
            for (let code = 0; code < 256; code++) assert.equal(meant.isShown(code), !filter.hidden.has(code));
        }
    }
});

test('expressions of people', () => {
    const read = (text) => parseExpression(text, NAMES, UP);
    const classes = (text) => [...Array(20).keys()].filter(read(text).isShown).join();
    assert.equal(classes('classification == 2'), '2');
    assert.equal(classes('(Classification in (2, 5:7)) and class != 6'), '2,5,7');
    assert.equal(classes('class not in (3:)'), '0,1,2');
    assert.deepEqual([...read('Intensity >= 5 && intensity <= 1e2').ranges], [['intensity', [5, 100]]]);
    assert.deepEqual([...read('z < 120.5').ranges].map(([n, [a, b]]) => [n, a, b < 120.5 && b > 120.499]), [['height', -Infinity, true]]);
    assert.deepEqual([...read('GpsTime in (3:)').ranges], [['gps-time', [3, Infinity]]]);
    assert.equal(read('ReturnNumber == NumberOfReturns').returns, 'last');
    assert.equal(read('').ranges.size, 0);
});

test('what is no filter is refused', () => {
    for (const text of ['z < 5 || z > 7', 'red > 5', 'intensity * 2 > 5', 'z', '(z < 5 && z > 2)', 'intensity in (1, 2)', 'z != 3', 'z < 5 &&', 'intensity in (a)', 'known(z)', '(z < 5', 'class in ()']) {
        assert.throws(() => parseExpression(text, NAMES, UP), { name: 'DataError' }, text);
    }
});
