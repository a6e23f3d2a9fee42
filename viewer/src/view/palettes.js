// Colours: ramps for numbers, the ASPRS classes, and one colour per level. All end as 256 RGBA texels.
import { table } from '../data/table.js';
import { t } from '../texts/texts.js';

const hex = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

const STOPS = table({
    spectrum: ['#3b2f80', '#3f6fd9', '#27b3c9', '#3fd07f', '#b6de3c', '#fcc02f', '#f5702a', '#b8201f'],
    viridis: ['#440154', '#46327e', '#365c8d', '#277f8e', '#1fa187', '#4ac16d', '#a0da39', '#fde725'],
    magma: ['#120d32', '#3b0f70', '#721f81', '#9e2f7f', '#cd4071', '#f1605d', '#fd9668', '#fcfdbf'],
    terrain: ['#2c5f8a', '#3d8f6b', '#7fb45c', '#d6cf7d', '#b98a52', '#8d6449', '#b9aca4', '#ffffff'],
    grey: ['#1c1c1c', '#e3e3e3'],
});
export const RAMPS = Object.keys(STOPS);

// ASPRS LAS 1.4, table 17; the colours follow what maps of each class look like.
export const CLASSES = table({
    0: ['#9aa0a6'],
    1: ['#c3c7cc'],
    2: ['#a9794c'],
    3: ['#9bd770'],
    4: ['#4cae4f'],
    5: ['#1b7a37'],
    6: ['#e8663d'],
    7: ['#d81e5b'],
    8: ['#ffd23f'],
    9: ['#2f86e0'],
    10: ['#8d6fd1'],
    11: ['#6d7480'],
    12: ['#f2e85c'],
    13: ['#f7b3d2'],
    14: ['#f277b5'],
    15: ['#b04fc4'],
    16: ['#7d3cb5'],
    17: ['#4fc1c9'],
    18: ['#ff2e2e'],
    19: ['#c9a227'],
    20: ['#7a5a3c'],
    21: ['#eef6ff'],
    22: ['#5e548e'],
});

// What has no agreed colour, user classes and levels, walks through twelve colours that are easy to tell apart.
const WHEEL = ['#5b8ff9', '#5ad8a6', '#f6bd16', '#e8684a', '#6dc8ec', '#9270ca', '#ff9d4d', '#269a99', '#ff99c3', '#a3c25b',
    '#c97b63', '#b0b7c3'];
const wheel = (i) => hex(WHEEL[i % WHEEL.length]);

export const className = (code) => (CLASSES[code] ? t(`class.${code}`) : t(code < 64 ? 'class.reserved' : 'class.user', { code }));
export const classColour = (code) => (CLASSES[code] ? hex(CLASSES[code][0]) : wheel(code));
export const levelColour = (level) => wheel(level);
// Neighbours in number are a golden angle apart in hue; lightness goes through three steps.
export function labelColour(label) {
    const [hue, light, strength] = [(label * 137.508) % 360, [0.58, 0.46, 0.7][label % 3], 0.25];
    return [0, 8, 4].map((n) => {
        const k = (n + hue / 30) % 12;
        return Math.round(255 * (light - strength * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    });
}
export const cssColour = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;

function texels(colourOf) {
    const data = new Uint8Array(256 * 4);
    for (let i = 0; i < 256; i++) data.set([...colourOf(i), 255], 4 * i);
    return data;
}

export function rampColour(name, t) {
    const stops = STOPS[name] ?? STOPS.viridis;
    const x = Math.max(0, Math.min(1, t)) * (stops.length - 1);
    const i = Math.min(Math.floor(x), stops.length - 2);
    const [a, b] = [hex(stops[i]), hex(stops[i + 1])];
    return a.map((c, k) => Math.round(c + (b[k] - c) * (x - i)));
}

export const rampTexels = (name) => texels((i) => rampColour(name, i / 255));
export const levelTexels = () => texels(levelColour);
export const labelTexels = () => texels(labelColour);
export const classTexels = () => texels(classColour);

export const rampCss = (name) =>
    `linear-gradient(to right, ${[...Array(9).keys()].map((i) => cssColour(rampColour(name, i / 8))).join(', ')})`;
