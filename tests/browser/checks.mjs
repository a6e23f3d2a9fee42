// The checks of one data set in one page. Each takes { page, set, out, note } and throws when something is wrong.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readPng } from './png.mjs';
import { visitPoints } from './read_dataset.mjs';

const MAX_EXACT_POINTS = 4e6; // software WebGL gets slow beyond
const BACKGROUND = [0, 0, 0];
const PROBES = 12;

export const idle = (page, ms = 60000) =>
    page.evaluate((limit) => Promise.race([
        window.mote.ready.then(() => window.mote.idle()),
        new Promise((_, reject) => setTimeout(() => reject(new Error(`not idle after ${limit} ms`)), limit)),
    ]), ms);

export const stats = (page) => page.evaluate(() => window.mote.stats());

export const picture = async (page, out, name) => page.screenshot({ path: join(out, `${name}.png`) });

// All points of the cloud are drawn, level by level, when nothing limits them.
export async function checkCount({ page, set }) {
    const exact = set.visiblePoints <= MAX_EXACT_POINTS;
    await page.evaluate((budget) => {
        window.mote.setMaxError(0);
        window.mote.setPointBudget(budget);
    }, exact ? 1e8 : MAX_EXACT_POINTS);
    await idle(page);
    const s = await stats(page);
    if (!exact) return assert.ok(s.pointsDrawn > 0 && s.pointsDrawn <= MAX_EXACT_POINTS, `${s.pointsDrawn} points drawn`);
    const levels = [];
    for (const node of set.visibleNodes) levels[node.name.length - 1] = (levels[node.name.length - 1] ?? 0) + node.numPoints;
    assert.deepEqual(s.pointsByLevel, Array.from(levels, (n) => n ?? 0));
    assert.equal(s.pointsDrawn, set.visiblePoints);
}

// The budget holds, and less detail means fewer points.
export async function checkBudget({ page, set }) {
    const biggestRoot = set.nodes[0].numPoints;
    const budget = Math.max(biggestRoot, Math.floor(set.visiblePoints / 3));
    await page.evaluate((b) => window.mote.setPointBudget(b), budget);
    await idle(page);
    const s = await stats(page);
    assert.ok(s.pointsDrawn > 0 && s.pointsDrawn <= budget, `${s.pointsDrawn} points with a budget of ${budget}`);
    await page.evaluate(() => window.mote.setPointBudget(2e6));
}

// Every lit pixel has the colour of some point; what the page lays over the points is hidden.
export async function checkPalette({ page, set }) {
    const colours = new Set();
    for (const node of set.nodes)
        visitPoints(set.folder, set.metadata, node, Infinity, (_, rgb) => colours.add(rgb.map((c) => c >> set.shift).join()));
    await page.addStyleTag({ content: '#tools, #cube { display: none; }' });
    const box = await page.locator('#canvas').boundingBox();
    const clip = { x: box.x + 60, y: box.y + 4, width: box.width - 120, height: box.height - 40 };
    const png = readPng(await page.screenshot({ clip }));
    let lit = 0;
    let wrong = 0;
    for (let y = 0; y < png.height; y++) {
        for (let x = 0; x < png.width; x++) {
            const rgb = png.at(x, y);
            if (rgb.every((c, i) => c === BACKGROUND[i])) continue;
            lit++;
            if (!colours.has(rgb.join())) wrong++;
        }
    }
    assert.ok(lit > 50, `only ${lit} pixels are lit`);
    assert.ok(wrong <= lit * 0.001, `${wrong} of ${lit} pixels have a colour that no point has`);
}

function probes(set) {
    const list = [];
    const step = Math.max(1, Math.floor(set.visibleNodes.length / PROBES));
    for (let i = 0; i < set.visibleNodes.length && list.length < PROBES; i += step) {
        if (set.visibleNodes[i].numPoints > 0)
            visitPoints(set.folder, set.metadata, set.visibleNodes[i], 3, (position, rgb) => list.push({ position, rgb }));
    }
    return list.slice(0, PROBES * 2);
}

// Looks at single points from very near: the middle of the picture must have their colour. Wrong positions, also
// by what 32-bit floats lose at UTM coordinates, would show the background.
export async function checkProbes({ page, set }) {
    const list = probes(set);
    const near = Math.max(...set.metadata.scale) * 40;
    let right = 0;
    const seen = [];
    await page.evaluate(() => {
        window.mote.setMaxError(1); // nodes out of the picture do not matter, those in it are all near
        window.mote.setPointSize(3, false);
    });
    const box = await page.locator('#canvas').boundingBox();
    for (const { position, rgb } of list) {
        await page.evaluate(([target, distance]) => {
            window.mote.camera = { target, distance, yaw: 0, pitch: 1.2 };
        }, [position, near]);
        await idle(page);
        const clip = { x: Math.round(box.x + box.width / 2) - 2, y: Math.round(box.y + box.height / 2) - 2, width: 4, height: 4 };
        const png = readPng(await page.screenshot({ clip }));
        const want = rgb.map((c) => c >> set.shift).join();
        const got = [1, 2].flatMap((x) => [1, 2].map((y) => png.at(x, y).join()));
        if (got.includes(want)) right++;
        else seen.push(`${want} at ${position}: saw ${[...new Set(got)].join(' ')}`);
    }
    // Another point may stand in the way of a few.
    assert.ok(right >= list.length * 0.8, `${right} of ${list.length} probes:\n  ${seen.join('\n  ')}`);
}

// Each colour mode draws without complaint; a picture of the well-known ones.
export async function checkModes({ page, out, name }) {
    const modes = await page.evaluate(() => window.mote.colorModes);
    for (const mode of modes) {
        await page.evaluate((m) => window.mote.setColorMode(m), mode);
        await idle(page);
        if (['rgb', 'height', 'intensity', 'classification', 'level'].includes(mode)) await picture(page, out, `${name}-${mode}`);
    }
    await page.evaluate((m) => window.mote.setColorMode(m), modes[0]);
    await idle(page);
}

// Wheel, drags and keys move the camera as they should.
export async function checkControls({ page }) {
    const camera = () => page.evaluate(() => window.mote.camera);
    const box = await page.locator('#canvas').boundingBox();
    const [x, y] = [box.x + box.width * 0.5, box.y + box.height * 0.52];
    await page.mouse.move(x, y);
    const a = await camera();
    await page.mouse.wheel(0, -300);
    await page.waitForFunction((d) => window.mote.camera.distance < d * 0.95, a.distance);
    await page.mouse.down();
    await page.mouse.move(x + 80, y + 20, { steps: 4 });
    await page.mouse.up();
    const b = await camera();
    assert.ok(Math.abs(b.yaw - a.yaw) > 0.1 && b.pitch !== a.pitch, 'dragging turns');
    await page.mouse.down({ button: 'right' });
    await page.mouse.move(x, y - 40, { steps: 4 });
    await page.mouse.up({ button: 'right' });
    const c = await camera();
    // The address may have set the camera to its own numbers meanwhile, whose step is 1e-5.
    const way = Math.hypot(...c.target.map((t, i) => t - b.target[i]));
    assert.ok(Math.abs(c.yaw - b.yaw) <= 1e-5 && way > 1e-3 * b.distance, 'right dragging moves');
    await page.keyboard.press('t');
    assert.ok(Math.abs((await camera()).pitch - Math.PI / 2) < 0.01, 'T looks from above');
    await page.keyboard.press('r');
    await page.keyboard.press('h');
    assert.ok(await page.locator('#help').isVisible(), 'H shows the keys');
    await page.keyboard.press('Escape');
    await idle(page);
}
