// Numbers as people read them.
import { crsName as nameOf } from '../data/crs.js';
import { angleName, unitName, unitsOf } from '../measure/units.js';
import { t } from '../texts/texts.js';
import { adjustedTime, weekTime } from '../data/gps_time.js';

export const crsName = (text) => nameOf(text) || t('not.given');

// By hand: the browser's own tables of numbers take a while to load.
export const integer = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ' ');

// 'shift+o' as it is written: 'Shift O'.
export const shownKey = (key) => key.split('+').map((part) => ({ shift: t('key.shift'), ctrl: t('key.ctrl') })[part] ?? part[0].toUpperCase() + part.slice(1)).join(' ');

// '1 node', '2 nodes', '12 345 nodes'. word: of a text 'count.word', which has both forms.
export const count = (n, word) => t(`count.${word}`, { n: integer(n) }).split('|')[n === 1 ? 0 : 1];

export function short(n) {
    if (n >= 1e9) return `${(n / 1e9).toFixed(2)} G`;
    if (n >= 1e6) return `${(n / 1e6).toFixed(n >= 1e7 ? 0 : 1)} M`;
    if (n >= 1e4) return `${Math.round(n / 1e3)} k`;
    return integer(n);
}

// A value of a range, with the digits that tell its ends apart.
export function value(v, span) {
    if (!Number.isFinite(v)) return '–';
    if (span > 0 && span < 1e-6) return v.toPrecision(9);
    const digits = span > 0 ? Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(span)))) : 3;
    return String(Number(v.toFixed(digits)));
}

// A value of a channel (or a height: null) with its unit; times as date and clock.
export function channelText(channel, v, span) {
    if (!Number.isFinite(v)) return '–';
    if (channel?.time === 'adjusted') return adjustedTime(v, span);
    if (channel?.time === 'week') return weekTime(v, span);
    return `${value(v, span)}${channel?.unit ?? ''}`;
}

// A small number without an exponent and without the digits that binary fractions add: 0.00025, not 2.5000000000000001e-4.
export function plain(v) {
    if (!Number.isFinite(v)) return '–';
    const rounded = Number(v.toPrecision(4));
    if (rounded === 0 || Math.abs(rounded) >= 1e-4) return String(rounded);
    const digits = Math.min(20, 1 - Math.floor(Math.log10(Math.abs(rounded))));
    return rounded.toFixed(digits).replace(/0+$/, '');
}

// From which length on a unit is used, its size in metres and its name.
const METRIC = [[1, 1, 'm'], [0.01, 0.01, 'cm'], [1e-5, 1e-3, 'mm'], [1e-8, 1e-6, 'µm'], [0, 1e-9, 'nm']];

// A length in metres with the unit that gives it few digits: '1 cm', '0.25 mm'.
export function length(metres) {
    const [, unit, name] = METRIC.find(([from]) => metres >= from * 0.9999);
    return `${plain(metres / unit)} ${name}`;
}

// How far things are apart, roughly: '500 km'; without a unit where none is known.
export function distanceText(drawn, { crs, isLonLat }) {
    const metres = isLonLat ? drawn : drawn * (crs?.metres ?? NaN);
    const rough = (v) => plain(Number(v.toPrecision(2)));
    if (!Number.isFinite(metres)) return rough(drawn);
    return metres >= 1000 ? `${rough(metres / 1000)} km` : length(Number(metres.toPrecision(2)));
}

// A number with its unit, '' where it is not known.
export const withUnit = (text, unit) => `${text}${unit && unit !== '°' ? '\u00a0' : ''}${unit}`;

// The steps in which coordinates count, each with its unit; those of metres in the unit that gives them few digits.
export function resolution(meta, assigned = 'file') {
    const units = coordinateUnits(meta, assigned);
    const [x, y, z] = meta.scale.map((s, i) => (units[i] === 'm' ? length(s) : withUnit(plain(s), units[i])));
    if (x === y && y === z) return x;
    return meta.isLonLat ? `${x === y ? x : `${x}, ${y}`}; ${t('fact.height')} ${z}` : [x, y, z].join(', ');
}

// How many digits after the point a step has: 0.01 has 2, 0.00025 has 5, 2^-20 has 7.
function digitsOf(step) {
    for (let digits = 0; digits < 12; digits++) {
        if (Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6 * step * 10 ** digits) return digits;
        if (step * 10 ** digits >= 1000) return Math.max(0, digits - 3); // no decimal fraction: enough to tell two steps apart
    }
    return 12;
}

// The units of x, y and z as the file has them, each '' where it is not known.
export function coordinateUnits(meta, assigned) {
    const { radians, metres, vertical } = unitsOf(meta, assigned);
    const across = radians ? angleName(radians) : unitName(metres);
    return [across, across, unitName(vertical)];
}

// The coordinates of a point, each with its unit: '11.5000000°', '400.25 m'.
export const namedCoordinates = (world, meta, assigned) => {
    const units = coordinateUnits(meta, assigned);
    return coordinates(world, meta.scale).map((c, i) => withUnit(c, units[i]));
};

// The coordinates of a point with the digits that the file has. world: whole steps of the scale.
export const coordinates = (world, scale) => world.map((c, i) => c.toFixed(digitsOf(scale[i])));
