// Debian's Firefox, driven by WebDriver BiDi without a driver between: playwright-core knows only a Firefox of its own.
// Without a screen Firefox has no WebGL, so it gets one that is none (Xvfb), and draws in software.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { withTimeout } from './browser.mjs';

const { ws: WebSocket } = createRequire(new URL('../../viewer/package.json', import.meta.url))('playwright-core/lib/utilsBundle');
const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const XVFB = '/usr/bin/Xvfb';
const PREFERENCES = { 'webgl.force-enabled': true, 'browser.shell.checkDefaultBrowser': false, 'datareporting.policy.dataSubmissionEnabled': false, 'app.update.enabled': false };

export const missing = [FIREFOX, XVFB].filter((file) => !existsSync(file));

// Starts a program and waits until its output says something; what it says is kept from filling the pipe.
async function start(program, args, options, pattern) {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], ...options });
    let text = '';
    const found = new Promise((resolve, reject) => {
        for (const output of [child.stdout, child.stderr, child.stdio[3]]) output?.on('data', (data) => {
            text += data;
            const match = pattern.exec(text);
            if (match) resolve(match);
        });
        child.on('error', reject);
        child.on('exit', (code) => reject(new Error(`${program} ended with ${code}: ${text}`)));
    });
    found.catch(() => {});
    return { child, match: await withTimeout(found, 60000, program).catch((error) => (child.kill('SIGKILL'), Promise.reject(error))) };
}

async function end(child) {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await withTimeout(ended, 10000, 'the end of Firefox').catch(() => child.kill('SIGKILL'));
}

// One command after another over a websocket; events are kept.
async function connect(url) {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    const [waiting, events] = [new Map(), []];
    let id = 0;
    socket.on('message', (text) => {
        const message = JSON.parse(text);
        if (message.id === undefined) events.push(message);
        else waiting.get(message.id)(message);
    });
    const send = (method, params = {}) => withTimeout(new Promise((resolve, reject) => {
        waiting.set(++id, (m) => (m.type === 'error' ? reject(new Error(`${method}: ${m.message}`)) : resolve(m.result)));
        socket.send(JSON.stringify({ id, method, params }));
    }), 60000, method);
    return { send, events, close: () => socket.terminate() };
}

function pageOf({ send, events }, context) {
    return {
        goto: (url) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
        // The value of an expression, which may be a promise; as JSON between the two.
        async evaluate(expression) {
            const { type, result, exceptionDetails } = await send('script.evaluate', { expression: `Promise.resolve(${expression}).then((v) => JSON.stringify(v))`, target: { context }, awaitPromise: true });
            if (type === 'exception') throw new Error(exceptionDetails.text);
            return result.value === undefined ? undefined : JSON.parse(result.value);
        },
        key: (value) => send('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions: [{ type: 'keyDown', value }, { type: 'keyUp', value }] }] }),
        drag: ([x, y], [toX, toY]) => send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: [
            { type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerMove', x: toX, y: toY, duration: 200 }, { type: 'pointerUp', button: 0 }] }] }),
        click: ([x, y]) => send('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: [
            { type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }] }] }),
        screenshot: async () => Buffer.from((await send('browsingContext.captureScreenshot', { context })).data, 'base64'),
        problems: () => events.splice(0).filter((e) => e.method === 'log.entryAdded' && ['error', 'warn'].includes(e.params.level)).map((e) => e.params.text),
    };
}

// work(page, version). Takes away all that it started.
export async function withFirefox(work) {
    const profile = mkdtempSync(join(tmpdir(), 'mote-firefox-'));
    let [screen, firefox, connection] = [];
    try {
        writeFileSync(join(profile, 'user.js'), Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${value});\n`).join(''));
        screen = await start(XVFB, ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {}, /(\d+)\n/);
        const env = { ...process.env, HOME: profile, DISPLAY: `:${screen.match[1]}`, LIBGL_ALWAYS_SOFTWARE: '1' };
        firefox = await start(FIREFOX, ['--no-remote', '--profile', profile, '--remote-debugging-port', '0', '--width', '1100', '--height', '800'], { env }, /WebDriver BiDi listening on (ws:\S+)/);
        connection = await connect(`${firefox.match[1]}/session`);
        const { capabilities } = await connection.send('session.new', { capabilities: {} });
        await connection.send('session.subscribe', { events: ['log.entryAdded'] });
        const { contexts } = await connection.send('browsingContext.getTree');
        return await work(pageOf(connection, contexts[0].context), capabilities.browserVersion);
    } finally {
        connection?.close();
        await end(firefox?.child);
        await end(screen?.child);
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    }
}
