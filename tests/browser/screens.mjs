// All panels and dialogs, to be looked at: wide, narrow, on a small laptop, light, dark, in English and in German.
//   node tests/browser/screens.mjs --mote build/test/mote --out /tmp/screens [PART OF A NAME]
// Sheets for each size, theme and language. Beside them it prints what it finds by itself: texts that are cut off, and
// parts of the page that cover each other.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openPage, withBrowser } from './browser.mjs';
import { idle } from './checks.mjs';
import { withQuery } from './hand.mjs';
import { startServer } from './servers.mjs';

const option = (name, usual) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : usual);
const part = process.argv.slice(2).filter((word, i, all) => !word.startsWith('--') && !all[i - 1]?.startsWith('--'))[0] ?? '';
const out = resolve(option('--out', '/tmp/screens'));
const SIZES = { wide: [1280, 800], narrow: [390, 844], laptop: [900, 480] };
const COLUMNS = { wide: [2, 760, 4], narrow: [5, 300, 5], laptop: [2, 760, 6] }; // of a sheet, how wide a picture is in it, and how many are

// What lies over the picture; none of it may cover another.
const LAYERS = ['#toolbar', '#tools', '#card', '#draft', '#profile', '#legend', '#status', '#panel', '#messages > *', '#said', '#hint', '#cube', 'dialog[open]'];

// In the page: what is cut off or covered.
function faults(layers) {
    const out = [];
    const isSeen = (e) => e.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) && e.getBoundingClientRect().width > 0;
    const name = (e) => e.id || `${e.tagName.toLowerCase()} "${(e.textContent ?? '').trim().slice(0, 30)}"`;
    // Of a row of buttons what they take; what is between them lets clicks through.
    const boxOf = (e, parts = [...(e.matches('nav') ? e.children : [])].map((child) => child.getBoundingClientRect())) => (parts.length === 0 ? e.getBoundingClientRect() : { left: Math.min(...parts.map(({ left }) => left)), top: Math.min(...parts.map(({ top }) => top)), right: Math.max(...parts.map(({ right }) => right)), bottom: Math.max(...parts.map(({ bottom }) => bottom)) });
    const boxes = layers.flatMap((layer) => [...document.querySelectorAll(layer)]).filter(isSeen).map((e) => [name(e), boxOf(e)]);
    const isModal = document.querySelector('dialog[open]');
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
        const [wide, high] = [Math.min(p.right, q.right) - Math.max(p.left, q.left), Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top)];
        if (wide > 1 && high > 1 && !isModal) out.push(`${a} and ${b} cover ${Math.round(wide)} x ${Math.round(high)}`);
    }));
    for (const [a, { left, right, top, bottom }] of boxes) if (left < -1 || top < -1 || right > innerWidth + 1 || bottom > innerHeight + 1) out.push(`${a} leaves the page: ${[left, top, right, bottom].map(Math.round)}`);
    for (const e of document.querySelectorAll('button, label, h1, h2, h3, p, span, dt, dd, li, output, td, th, summary')) {
        if (isSeen(e) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).display !== 'inline' && /hidden|clip/.test(getComputedStyle(e).overflowX)) out.push(`cut off: ${name(e)}`);
        if (isSeen(e) && e.matches('button') && e.scrollWidth > e.clientWidth + 1) out.push(`too long for its button: ${name(e)}`);
    }
    return out;
}

// Steps, each from the state that the one before left.
const key = (...keys) => async (page) => { await page.locator('#canvas').focus(); for (const k of keys) await page.keyboard.press(k); };
const panelAt = (share) => (page) => page.evaluate((s) => { const p = document.getElementById('panel'); p.scrollTop = s * (p.scrollHeight - p.clientHeight); }, share);
const isOpen = (page) => page.evaluate(() => document.getElementById('panel-toggle').getAttribute('aria-expanded') === 'true');
const setPanel = (wanted) => async (page) => { if ((await isOpen(page)) !== wanted) await page.locator('#panel-toggle').click(); };
const STEPS = {
    opened: async () => {},
    'panel top': setPanel(true),
    'panel 25': panelAt(0.25), 'panel 50': panelAt(0.5), 'panel 75': panelAt(0.75), 'panel end': panelAt(1),
    closed: setPanel(false),
    distance: async (page) => { await key('d')(page); for (const [x, y] of [[0.45, 0.55], [0.55, 0.45], [0.6, 0.6]]) { const b = await page.locator('#canvas').boundingBox(); await page.mouse.click(b.x + x * b.width, b.y + y * b.height); } },
    measured: key('Enter'),
    point: async (page) => { await key('Escape')(page); const b = await page.locator('#canvas').boundingBox(); await page.mouse.dblclick(b.x + 0.5 * b.width, b.y + 0.52 * b.height); },
    volume: async (page) => { await key('Escape', 'k')(page); const b = await page.locator('#canvas').boundingBox(); for (const [x, y] of [[0.42, 0.5], [0.58, 0.5], [0.58, 0.62], [0.42, 0.62]]) await page.mouse.click(b.x + x * b.width, b.y + y * b.height); await page.keyboard.press('Enter'); },
    profile: async (page) => { await key('n')(page); const b = await page.locator('#canvas').boundingBox(); for (const [x, y] of [[0.4, 0.5], [0.6, 0.55]]) await page.mouse.click(b.x + x * b.width, b.y + y * b.height); await page.keyboard.press('Enter'); await page.locator('#profile').waitFor(); },
    'marks listed': async (page) => { await key('Escape')(page); await setPanel(true)(page); await page.locator('#marks-section').scrollIntoViewIfNeeded(); },
    'save and classes': async (page) => page.locator('#save-section').scrollIntoViewIfNeeded(),
    'clip box': async (page) => { await setPanel(false)(page); await key('z')(page); },
    help: async (page) => { await key('Escape', 'h')(page); },
    'help end': (page) => page.evaluate(() => { const d = document.getElementById('help'); d.scrollTop = d.scrollHeight; }),
    picture: async (page) => { await page.keyboard.press('Escape'); await key('Shift+P')(page); },
    message: async (page) => { await page.keyboard.press('Escape'); await page.locator('#marks-file').setInputFiles({ name: 'wrong.geojson', mimeType: '', buffer: Buffer.from('{"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": {"type": "Circle"}}]}') }); await page.locator('#messages > *').first().waitFor(); },
    nothing: async (page) => { await page.locator('#messages button').first().click(); await page.evaluate(() => window.mote.setFilter('height', [-9e3, -8e3])); await page.locator('#hint').waitFor(); },
};

async function shoot(context, url, size, theme, language) {
    const [width, height] = SIZES[size];
    const tag = `${size}-${theme}-${language}`;
    const folder = join(out, tag);
    mkdirSync(folder, { recursive: true });
    const { page, problems } = await openPage(context, { width, height });
    page.setDefaultTimeout(8000);
    await page.addInitScript(([t, l]) => { localStorage.clear(); localStorage.setItem('mote.language', l); window.wantedTheme = t; }, [theme, language]);
    await page.goto(withQuery(url, `edl=0&theme=${theme}`));
    await idle(page);
    await page.locator('#theme').evaluate((e, value) => { e.value = value; e.dispatchEvent(new Event('change', { bubbles: true })); }, theme);
    let number = 0;
    for (const [name, step] of Object.entries(STEPS)) {
        try {
            await step(page);
        } catch (error) {
            console.log(`${tag}: ${name}: ${error.message.split('\n')[0]}`);
        }
        await page.waitForTimeout(250);
        const found = await page.evaluate(faults, LAYERS);
        for (const fault of new Set(found)) console.log(`${tag}: ${name}: ${fault}`);
        await page.screenshot({ path: join(folder, `${String(number++).padStart(2, '0')} ${name}.png`) });
    }
    for (const problem of problems) console.log(`${tag}: ${problem}`);
    await page.close();
    return folder;
}

// The pictures of a folder side by side, a few on each sheet, so that letters stay large enough to read.
async function sheets(context, folder, [columns, width, most]) {
    const names = readdirSync(folder).sort();
    for (let first = 0; first < names.length; first += most) {
        const figures = names.slice(first, first + most).map((name) => `<figure><img src="data:image/png;base64,${readFileSync(join(folder, name)).toString('base64')}"><figcaption>${name}</figcaption></figure>`);
        const page = await context.newPage();
        await page.setViewportSize({ width: columns * (width + 8), height: 600 });
        await page.setContent(`<style>body { margin: 0; display: grid; grid-template-columns: repeat(${columns}, ${width}px); gap: 8px; font: 12px sans-serif; } figure { margin: 0; } img { width: 100%; display: block; }</style>${figures.join('')}`);
        await page.screenshot({ path: `${folder}-${first / most}.png`, fullPage: true });
        await page.close();
    }
}

const data = mkdtempSync(join(tmpdir(), 'mote-screens-'));
const mote = resolve(option('--mote', 'build/test/mote'));
try {
    execFileSync(mote, ['gen', 'city', '-o', join(data, 'city.las'), '-n', '400k', '-q']);
    execFileSync(mote, ['lod', join(data, 'city.las'), '-o', join(data, 'city.mote'), '-q']);
    const server = await startServer(mote, join(data, 'city.mote'));
    for (const size of Object.keys(SIZES)) for (const theme of ['light', 'dark']) for (const language of ['en', 'de']) {
        if (!`${size}-${theme}-${language}`.includes(part)) continue;
        await withBrowser(async (context) => sheets(context, await shoot(context, server.url, size, theme, language), COLUMNS[size]));
    }
    await server.close();
} finally {
    rmSync(data, { recursive: true, force: true });
}
