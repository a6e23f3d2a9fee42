// What the checks by hand share: pixels, keys, small data sets.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readPng } from './png.mjs';
import { idle } from './checks.mjs';
import { DEFAULT_ATTRIBUTES } from '../viewer/make_dataset.mjs';

export const DESKTOP = { width: 960, height: 640 };
export const PHONE = { width: 390, height: 844 };
export const PLAIN = 'background=black&edl=0'; // software draws lighting slowly

// What lies over the picture, and the mark of the focus around it, goes with the class "bare".
export const BARE = 'body.bare :is(#toolbar, #tools, #overlay, #card, #foot, #panel-toggle, #messages, #hint, #progress, #said) { visibility: hidden; } body.bare #cube, body.bare #stage::after { display: none; }';

// Of checks that differ in a value alone each step-th, from the one on that the commit says (MOTE_TEST_SEED, tests/run.py);
// all where nobody says it, or with MOTE_TEST_ALL. after: goes on once that many commits were counted; what is in turn
// within something that is in turn would otherwise miss it each time.
export function inTurn(entries, step, after = 1) {
    const { MOTE_TEST_SEED: seed, MOTE_TEST_ALL: all } = process.env;
    return seed === undefined || all !== undefined ? entries : entries.filter((_, i) => i % step === Math.floor(Number(seed) / after) % step);
}

// An address with more in its query.
export const withQuery = (url, ...queries) => url + (url.includes('?') ? '&' : '?') + queries.filter(Boolean).join('&');

// The pixels of the cloud that are not background (black): how many, their box, and whether a colour is among them.
export async function lit(page) {
    await page.evaluate(() => document.body.classList.add('bare'));
    const png = readPng(await page.locator('#canvas').screenshot());
    await page.evaluate(() => document.body.classList.remove('bare'));
    const out = { imageWidth: png.width, count: 0, left: Infinity, right: -1, top: Infinity, bottom: -1, colours: new Map() };
    const byNumber = new Map(); // a name for each of half a million pixels would take longer than the drawing
    for (let y = 2; y < png.height - 2; y++) {
        for (let x = 2; x < png.width - 2; x++) { // around it is the mark of the focus
            const at = (y * png.width + x) * png.channels;
            const [r, g, b] = [png.pixels[at], png.pixels[at + 1], png.pixels[at + 2]];
            if (r + g + b < 12) continue;
            out.count++;
            if (x < out.left) out.left = x;
            if (x > out.right) out.right = x;
            if (y < out.top) out.top = y;
            out.bottom = y;
            const number = (r << 16) | (g << 8) | b;
            byNumber.set(number, (byNumber.get(number) ?? 0) + 1);
        }
    }
    for (const [number, n] of byNumber) out.colours.set([number >> 16, (number >> 8) & 255, number & 255].join(), n);
    return { ...out, width: out.right - out.left + 1, height: out.bottom - out.top + 1 };
}

// Pixels that are as blue as the bounding box.
export const bluePixels = ({ colours }) =>
    [...colours].reduce((sum, [key, n]) => sum + (/^(\d+),(\d+),(\d+)$/.test(key) && isBlue(key.split(',').map(Number)) ? n : 0), 0);
export const isBlue = ([r, g, b]) => Math.abs(r - 0x6f) < 24 && Math.abs(g - 0xb3) < 24 && b > 225;

export const middle = async (page) => {
    const box = await page.locator('#canvas').boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
};
export const pickedText = (page) => page.locator('#s-pick').innerText();
export const numbersIn = (text) => (text.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
export const facts = (page) => page.locator('#facts').innerText();
export const plain = (page) => page.evaluate(() => {
    window.mote.setEyeDome(0);
    window.mote.setPointSize(2, false);
});
export const press = async (page, key) => {
    await page.keyboard.press(key);
    await idle(page);
};

// A board of points in x and z (or any two axes), dense enough to be a surface.
export function grid(n, place, more = () => ({})) {
    const points = [];
    for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++)
            points.push({ index: points.length, position: place(i / (n - 1), j / (n - 1)).map(Math.round), rgb: [65535, 65535, 65535], ...more(i, j) });
    }
    return points;
}
// A place that a depth camera saw, whose axes are x right, y down, z into the picture: hills 2 to 4 m away, in millimetres.
export function seenByCamera(u, v) {
    const depth = 3000 + 1000 * Math.sin(7 * u) * Math.cos(5 * v);
    return [(u - 0.5) * depth, (v - 0.5) * 0.75 * depth, depth];
}
export const POSITION = DEFAULT_ATTRIBUTES[0];
export const ONE_NODE = { leaf: 1e9 };

// Whether two pictures are the same, pixel for pixel: how many of their pixels differ.
export function differentPixels(a, b) {
    const [one, other] = [readPng(a), readPng(b)];
    assert.deepEqual([one.width, one.height], [other.width, other.height]);
    let count = 0;
    for (let pixel = 0; pixel < one.width * one.height; pixel++) {
        const [p, q] = [pixel * one.channels, pixel * other.channels];
        if ([0, 1, 2].some((k) => one.pixels[p + k] !== other.pixels[q + k])) count++;
    }
    return count;
}

// The picture without what lies over it.
export async function bare(page) {
    await page.evaluate(() => document.body.classList.add('bare'));
    const png = await page.locator('#canvas').screenshot();
    await page.evaluate(() => document.body.classList.remove('bare'));
    return png;
}

// 40,000 points of a town, as a file that the command writes: .copc.laz, or a folder.
export function makeCity(mote, folder, name, points = '40k') {
    execFileSync(mote, ['gen', 'city', '-o', join(folder, 'city.las'), '-n', points, '-q']);
    execFileSync(mote, ['lod', join(folder, 'city.las'), join(folder, name), '-q']);
    return join(folder, name);
}
