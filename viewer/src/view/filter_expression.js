// Filters as an expression of mote's --where, and such an expression as filters: ranges, classes and returns joined by &&.
// What the page has no filter for is refused by name.
import { DataError } from '../data/errors.js';
import { t } from '../texts/texts.js';

const RETURNS_TEXT = {
    first: 'return_number == 1',
    last: 'return_number >= number_of_returns',
    only: 'number_of_returns == 1',
    between: 'return_number > 1 && return_number < number_of_returns',
};
const CLASSES = 256;
const NAME = '(`[^`]+`|[A-Za-z_][\\w.]*)';
const NUMBER = '([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?)';
const RETURNS_CLAUSES = [
    ['between', /^return_?number\s*>\s*1\s*(?:&&|and\b)\s*return_?number\s*<\s*number_?of_?returns/i],
    ['first', /^return_?number\s*==\s*1(?![\d.])/i],
    ['last', /^return_?number\s*(?:>=|==)\s*number_?of_?returns/i],
    ['only', /^number_?of_?returns\s*==\s*1(?![\d.])/i],
];
const BETWEEN = new RegExp(`^${NAME}\\s+between\\s+${NUMBER}\\s*(?:&&|and\\b)\\s*${NUMBER}`, 'i');
const LIST = new RegExp(`^${NAME}\\s+(not\\s+)?in\\s*\\(([^()]*)\\)`, 'i');
const COMPARED = new RegExp(`^${NAME}\\s*(==|!=|<=|>=|<|>)\\s*${NUMBER}`, 'i');
const RANGE = new RegExp(`^\\s*${NUMBER}?\\s*(:)?\\s*${NUMBER}?\\s*$`);

// Names are the same but for case, blanks and signs.
const keyOf = (name) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
const written = (name) => (/^[A-Za-z_][\w -]*$/.test(name) ? name.replace(/[ -]/g, '_') : `\`${name}\``);

// Those that are shown, where these are fewer.
function classesText(hidden) {
    const shown = [...Array(CLASSES).keys()].filter((code) => !hidden.has(code));
    const few = shown.length < hidden.size ? shown : [...hidden].sort((a, b) => a - b);
    return `classification ${few === shown ? 'in' : 'not in'} (${few.join(', ')})`;
}

// filter: a PointFilter. axis, sign: of what is up.
export function expressionOf(filter, { axis, sign }) {
    const clauses = [];
    if (filter.hidden.size > 0) clauses.push(classesText(filter.hidden));
    for (const [name, { range: [low, high] }] of filter.ranges) {
        const [a, b] = name === 'height' && sign < 0 ? [-high, -low] : [low, high];
        clauses.push(`${name === 'height' ? 'xyz'[axis] : written(name)} between ${a} and ${b}`);
    }
    if (filter.returns) clauses.push(RETURNS_TEXT[filter.returns]);
    return clauses.join(' && ');
}

const above = (v) => v + Math.max(Math.abs(v) * Number.EPSILON, Number.MIN_VALUE);
const below = (v) => v - Math.max(Math.abs(v) * Number.EPSILON, Number.MIN_VALUE);

// [low, high] of a comparison; null: it is none of a range.
function rangeOf(sign, value) {
    const ranges = { '==': [value, value], '<=': [-Infinity, value], '>=': [value, Infinity], '<': [-Infinity, below(value)], '>': [above(value), Infinity] };
    return ranges[sign] ?? null;
}

// The ranges of a list like "2, 3, 5:7".
function rangesOf(list) {
    return list.split(',').map((item) => {
        const found = item.match(RANGE);
        if (!found || item.trim() === '') throw new DataError(t('where.list', { text: item.trim() }));
        const [, low, colon, high] = found;
        if (!colon) return [Number(low), Number(low)];
        return [low === undefined ? -Infinity : Number(low), high === undefined ? Infinity : Number(high)];
    });
}

// One clause at the start of the text: { length, returns } or { length, name, ranges, negated }.
function parseClause(text) {
    for (const [returns, pattern] of RETURNS_CLAUSES) {
        const found = text.match(pattern);
        if (found) return { length: found[0].length, returns };
    }
    let found = text.match(BETWEEN);
    if (found) return { length: found[0].length, name: found[1], ranges: [[Number(found[2]), Number(found[3])]], negated: false };
    found = text.match(LIST);
    if (found) return { length: found[0].length, name: found[1], ranges: rangesOf(found[3]), negated: found[2] !== undefined };
    found = text.match(COMPARED);
    if (!found) throw new DataError(t('where.none', { text: text.slice(0, 40) }));
    const negated = found[2] === '!=';
    return { length: found[0].length, name: found[1], ranges: [rangeOf(negated ? '==' : found[2], Number(found[3]))], negated };
}

// names: of the ranges that the page can filter, without heights. Returns { ranges: name -> [low, high], returns,
// isShown: of a class's code, or null }.
export function parseExpression(text, names, { axis, sign }) {
    const result = { ranges: new Map(), returns: null, isShown: null };
    const known = new Map(names.map((name) => [keyOf(name), name]));
    const intersect = (name, [low, high]) => {
        const [a, b] = result.ranges.get(name) ?? [-Infinity, Infinity];
        result.ranges.set(name, [Math.max(a, low), Math.min(b, high)]);
    };
    const take = ({ name, ranges, negated }) => {
        const key = keyOf(name);
        if (key === 'classification' || key === 'class') {
            const before = result.isShown;
            const meets = (code) => ranges.some(([low, high]) => code >= low && code <= high) !== negated;
            result.isShown = before ? (code) => before(code) && meets(code) : meets;
        } else if (negated || ranges.length > 1) {
            throw new DataError(t('where.one', { name }));
        } else if (key === 'xyz'[axis]) {
            intersect('height', sign < 0 ? [-ranges[0][1], -ranges[0][0]] : ranges[0]);
        } else if (known.has(key)) {
            intersect(known.get(key), ranges[0]);
        } else {
            throw new DataError(t('where.of', { name }));
        }
    };
    let rest = text.trim();
    while (rest !== '') {
        const bracketed = rest.startsWith('(');
        if (bracketed) rest = rest.slice(1).trimStart();
        const clause = parseClause(rest);
        if (clause.returns) result.returns = clause.returns;
        else take(clause);
        rest = rest.slice(clause.length).trimStart();
        if (bracketed && !rest.startsWith(')')) throw new DataError(t('where.brackets'));
        if (bracketed) rest = rest.slice(1).trimStart();
        const joined = rest.match(/^(?:&&|and\b)\s*/i);
        if (rest !== '' && (!joined || joined[0].length === rest.length)) throw new DataError(t('where.and', { text: rest.slice(0, 40) }));
        if (joined) rest = rest.slice(joined[0].length);
    }
    return result;
}
