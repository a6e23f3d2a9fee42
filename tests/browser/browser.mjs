// Starts a headless Chromium with a profile of its own and always takes both away again.
import { createRequire } from 'node:module';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(new URL('../../viewer/package.json', import.meta.url));
const { chromium } = require('playwright-core');

// The shell has no windows, menus and settings, and opens a page with a quarter less work.
const SHELL = '/usr/lib/chromium/chromium-headless-shell';
const CHROMIUM = process.env.CHROMIUM ?? (existsSync(SHELL) ? SHELL : '/usr/bin/chromium');

// No GPU in test machines: WebGL runs in software. Nothing may call home.
const FLAGS = [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
];

export const withTimeout = (promise, ms, what) => {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what}: not done after ${ms / 1000} s`)), ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

export async function withBrowser(work) {
    const profile = mkdtempSync(join(tmpdir(), 'mote-chromium-'));
    let context = null;
    try {
        context = await chromium.launchPersistentContext(profile, {
            executablePath: CHROMIUM,
            headless: true,
            args: FLAGS,
            viewport: { width: 1280, height: 800 },
            timeout: 60000,
        });
        return await work(context);
    } finally {
        if (context) await withTimeout(context.close(), 15000, 'closing Chromium').catch(() => context.browser()?.close());
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    }
}

// A page that remembers everything that went wrong on it.
export async function openPage(context, viewport) {
    const page = await context.newPage();
    page.setDefaultTimeout(30000);
    if (viewport) await page.setViewportSize(viewport);
    const problems = [];
    page.on('console', (message) => {
        // Screenshots read the canvas back, which the software driver remarks on.
        if (/GPU stall due to ReadPixels/.test(message.text())) return;
        if (['error', 'warning'].includes(message.type())) problems.push(`console ${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`page error: ${error.message}`));
    page.on('requestfailed', (request) => {
        if (request.failure()?.errorText !== 'net::ERR_ABORTED') problems.push(`request failed: ${request.url()} ${request.failure()?.errorText}`);
    });
    return { page, problems };
}
