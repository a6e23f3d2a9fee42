// The settings of the picture, their defaults, and how each is written in an address. Pure.
import { UP_AXES } from './up_axis.js';
import { RAMPS } from './palettes.js';
import { SHOWN_UNITS } from '../measure/units.js';

export const BACKGROUNDS = ['auto', 'slate', 'black', 'grey', 'white', 'sky'];
// How large points are drawn: after the density around them, alike in space, alike on the screen.
export const SIZINGS = ['adaptive', 'distance', 'fixed'];
export const THEMES = ['auto', 'dark', 'light'];

export const DEFAULTS = Object.freeze({
    budget: 2e6,
    maxError: 1.4, // pixels between samples
    pointSize: 1,
    sizing: 'adaptive',
    eyeDome: 0.5,
    averaged: false, // close points, each pixel their mean
    autoExposure: true, // dark colours are drawn brighter
    brightness: 0,
    contrast: 0,
    gamma: 1,
    boundingBox: false,
    orthographic: false,
    ramp: 'viridis',
    up: 'z',
    background: 'auto',
    theme: 'auto',
    units: 'file', // of figures
    coordinates: 'file', // what they count in, where a person says it
});

const number = (low, high) => ({
    read: (text) => (text !== '' && Number.isFinite(Number(text)) ? Math.min(high, Math.max(low, Number(text))) : undefined),
    write: (value) => String(Number(value.toPrecision(6))),
});
const flag = { read: (text) => text !== '0', write: (value) => (value ? '1' : '0') };
const choice = (list) => ({ read: (text) => (list.includes(text) ? text : undefined), write: String });

// Of each setting: its name in an address, and how it is read and written there.
const WRITTEN = {
    budget: ['budget', number(1, 1e8)],
    maxError: ['error', number(0, 1000)],
    pointSize: ['size', number(0.1, 20)],
    sizing: ['sizing', choice(SIZINGS)],
    eyeDome: ['edl', number(0, 4)],
    averaged: ['average', flag],
    autoExposure: ['exposure', flag],
    brightness: ['brightness', number(-1, 1)],
    contrast: ['contrast', number(-1, 2)],
    gamma: ['gamma', number(0.2, 4)],
    boundingBox: ['box', flag],
    orthographic: ['ortho', flag],
    ramp: ['ramp', choice(RAMPS)],
    up: ['up', choice(UP_AXES)],
    background: ['background', choice(BACKGROUNDS)],
    theme: ['theme', choice(THEMES)],
    units: ['units', choice(Object.keys(SHOWN_UNITS))],
    coordinates: ['coordinates', choice(Object.keys(SHOWN_UNITS))],
};

// The settings that an address names; what it does not name or names wrongly is not among them.
export function readSettings(query) {
    const settings = {};
    for (const [name, [key, { read }]] of Object.entries(WRITTEN)) {
        const value = query.has(key) ? read(query.get(key)) : undefined;
        if (value !== undefined) settings[name] = value;
    }
    return settings;
}

// The names of an address whose values are none of the settings they belong to.
export const misreadSettings = (query) => Object.values(WRITTEN).filter(([key, { read }]) => query.has(key) && read(query.get(key)) === undefined).map(([key]) => key);

// A number as a setting takes it: within its limits; where it is none, the default.
export const limited = (name, value) => WRITTEN[name][1].read(String(Number(value))) ?? DEFAULTS[name];

// Adds those that are not the defaults. without: names that are left out.
export function writeSettings(settings, query, without = []) {
    for (const [name, [key, { write }]] of Object.entries(WRITTEN)) {
        if (settings[name] !== DEFAULTS[name] && !without.includes(name)) query.set(key, write(settings[name]));
    }
    return query;
}
