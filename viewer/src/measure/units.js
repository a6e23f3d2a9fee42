// What figures count in: the unit of the data set, as the file (or a person) says it, and the one that they are shown in. Pure.
import { DEGREE } from '../data/geographic.js';
import { table } from '../data/table.js';
import { t } from '../texts/texts.js';

// Metres of a unit, and its name: the two kinds of feet are half a metre apart in 250 km.
const UNITS = [[1, 'm'], [1000, 'km'], [0.01, 'cm'], [0.001, 'mm'], [0.3048, 'ft'], [1200 / 3937, 'US ft'], [0.9144, 'yd'], [0.0254, 'in']];
const SAME = 1e-7;

const unitOf = (metres) => UNITS.find(([size]) => Math.abs(metres / size - 1) < SAME);

// 'm', or what the unit is in metres where it has no name here; '' where it is not known.
export const unitName = (metres) => (metres ? unitOf(metres)?.[1] ?? `${metres} m` : '');

// The sign of a unit of angles.
export const angleName = (radians) => (Math.abs(radians / DEGREE - 1) < SAME ? '°' : Math.abs(radians / DEGREE / 0.9 - 1) < SAME ? 'gon' : `${radians} rad`);

// The size of a unit to its last digit: texts round 1200/3937 in several ways.
const exact = (metres) => (metres ? unitOf(metres)?.[0] ?? metres : 0);

// What a person may have figures in, and what coordinates may be said to be: names and sizes in metres.
export const SHOWN_UNITS = table({ file: null, m: 1, ft: 0.3048, 'us-ft': 1200 / 3937 });
export const unitWord = (unit) => t(`unit.${unit}`);

// assigned: of SHOWN_UNITS, what a person says that coordinates count in; 'file' leaves it to the data set.
const known = (metres, assigned) => SHOWN_UNITS[assigned] ?? exact(metres);

// Of coordinates, for measuring: { metres, radians: of x and y; vertical: metres of heights }; 0 where not known.
export function unitsOf({ crs, isLonLat }, assigned = 'file') {
    const vertical = known(crs?.verticalMetres, isLonLat ? 'file' : assigned);
    return isLonLat ? { metres: 0, radians: crs?.radians ?? DEGREE, vertical } : { metres: known(crs?.metres, assigned), radians: 0, vertical };
}

// Metres of one of the lengths as drawn, which figures are in; 0 where not known.
export const drawnMetres = (meta, assigned) => (meta.isLonLat ? 1 : unitsOf(meta, assigned).metres);

// Metres of one of the heights of the file, which axes and coordinates are in; 0 where not known.
export const heightMetres = (meta, assigned) => unitsOf(meta, assigned).vertical;

// A length (or area, or volume: power) of a unit of so many metres as it is shown: { value, unit }. wanted: of SHOWN_UNITS.
export function shown(value, metres, wanted, power = 1) {
    const size = SHOWN_UNITS[wanted];
    if (!metres || !size) return { value, unit: unitName(metres) };
    return { value: value * (metres / size) ** power, unit: unitName(size) };
}
