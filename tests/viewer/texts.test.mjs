// Texts: every language has all of them, the source uses no other, and none stands outside of the table.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import en from '../../viewer/src/texts/en.js';
import { causeOf, DataError, told, useWords } from '../../viewer/src/data/errors.js';
import { LANGUAGES, t } from '../../viewer/src/texts/texts.js';

const SOURCE = fileURLToPath(new URL('../../viewer/src', import.meta.url));
const walk = (folder) => readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
});
const FILES = walk(SOURCE).filter((path) => /\.(js|html)$/.test(path) && !/texts[/\\]([a-z]{2}\.js|[a-z]{2}[/\\]\w+\.js)$/.test(path)).map((path) => ({ name: path.slice(SOURCE.length + 1), text: readFileSync(path, 'utf8') }));

// The literals of a program; what is filled in is ${}. A small reader of JavaScript: strings, templates in
// templates, comments, and expressions between slashes.
function literals(code) {
    const [found, open] = [[], []]; // open: templates that wait for the end of what is filled in, with how many braces are open in it
    let [i, last] = [0, ''];
    const template = (begun) => {
        let text = begun;
        for (; i < code.length && code[i] !== '`'; i++) {
            if (code[i] === '\\') text += code[i++];
            else if (code.startsWith('${', i)) {
                i += 2;
                open.push({ text: `${text}\${}`, depth: 0 });
                return;
            }
            text += code[i];
        }
        i++;
        found.push(text);
        last = 'x';
    };
    while (i < code.length) {
        const c = code[i];
        if (code.startsWith('//', i)) i = (code.indexOf('\n', i) + code.length) % code.length || code.length;
        else if (code.startsWith('/*', i)) i = code.indexOf('*/', i) + 2;
        else if (c === '/' && /[=(,:;!&|?{}[>]/.test(last)) {
            for (let isSet = false, j = ++i; ; j = ++i) {
                if (code[j] === '\\') i++;
                else if (code[j] === '[') isSet = true;
                else if (code[j] === ']') isSet = false;
                else if (code[j] === '/' && !isSet) break;
            }
            i++;
            last = 'x';
        } else if (c === "'" || c === '"') {
            const start = ++i;
            for (; code[i] !== c; i++) if (code[i] === '\\') i++;
            found.push(code.slice(start, i++));
            last = 'x';
        } else if (c === '`') {
            i++;
            template('');
        } else if (c === '}' && open.at(-1)?.depth === 0) {
            i++;
            template(open.pop().text);
        } else {
            if (open.length > 0 && c === '{') open.at(-1).depth++;
            if (open.length > 0 && c === '}') open.at(-1).depth--;
            if (!/\s/.test(c)) last = c;
            i++;
        }
    }
    return found;
}

// What the decoder of LAZ says, whose words are keys.
const FAULTS = ['src/io/laz/laz_layered.c', 'src/io/laz/laz_layers.c', 'viewer/wasm/page_laz.c'].flatMap((path) => {
    const code = readFileSync(join(SOURCE, '../..', path), 'utf8');
    return [...code.matchAll(/"([a-z][^"\n]* [^"\n]*)"/g)].map(([, text]) => text);
});

const names = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

test('every language has every text, with the same names in it', async () => {
    for (const language of Object.keys(LANGUAGES)) {
        const { default: table } = await import(pathToFileURL(join(SOURCE, 'texts', `${language}.js`)).href);
        assert.deepEqual(Object.keys(table).sort(), Object.keys(en).sort(), language);
        for (const [key, text] of Object.entries(table)) {
            assert.ok(typeof text === 'string' && text.trim() !== '', `${language}: ${key} is empty`);
            assert.deepEqual(new Set(names(text)), new Set(names(en[key])), `${language}: ${key}`);
            assert.equal(text.split('|').length, en[key].split('|').length, `${language}: ${key}`);
            assert.ok(language === 'en' || text !== en[key] || text.replace(/\{\w+\}/g, '').length < 12, `${language}: ${key} is the English text`);
        }
    }
    assert.equal(t('tool.more', { n: 3 }), 'This needs 3 points.');
    assert.equal(t('no.such.key'), 'no.such.key');
});

test('the source uses the texts that there are, and all of them', () => {
    const used = new Set();
    const unknown = [];
    const use = (key, name) => (Object.hasOwn(en, key) ? used.add(key) : unknown.push(`${name}: ${key}`));
    for (const { name, text } of FILES) {
        for (const [, key] of text.matchAll(/\bdata-(?:t|title|label|hint)="([^"]+)"/g)) use(key, name);
        for (const [, quoted] of text.matchAll(/\bt\(([^()`]*'[^()`]*)/g)) for (const [, key] of quoted.split(', {')[0].matchAll(/'([a-z][\w.-]*)'/g)) if (key.includes('.') || Object.hasOwn(en, key)) use(key, name);
        for (const [, key] of text.matchAll(/\b(?:told\(\w+, |key: )'([^']+)'/g)) use(key, name);
        for (const [, key] of text.matchAll(/(?:status === 404 \? |: )'((?:fetch|address|gather)\.\w+)'/g)) use(key, name);
        // What is filled in may be any name: all keys of this form are used, and there is one.
        const forms = [...text.matchAll(/(?<!\.)\b(?:t|has)\(`([^`]*\$\{[^`]*)`/g)].map(([, form]) => form);
        for (const form of forms) {
            const pattern = new RegExp(`^${form.split(/\$\{[^}]*\}/).map((part) => part.replaceAll('.', '\\.')).join('.+')}$`);
            const keys = Object.keys(en).filter((key) => pattern.test(key));
            assert.ok(keys.length > 0, `${name}: no text like ${form}`);
            for (const key of keys) used.add(key);
        }
    }
    for (const fault of FAULTS) use(fault, 'the decoder');
    const buttons = /button\('(draft\.\w+)'/g; // texts that have a title beside them
    for (const { text } of FILES) for (const [, key] of text.matchAll(buttons)) for (const one of [key, `${key}.title`]) use(one, key);
    assert.deepEqual(unknown, []);
    assert.deepEqual(Object.keys(en).filter((key) => !used.has(key)), [], 'texts that nothing says');
});

// What looks like words and is none of the page: what the readers of damaged files say, in the words of the command, names that
// files have, and what only programs see.
const READERS = /^(data.(attributes|brotli|decode|hierarchy|metadata|worker_pool|las_write|crs)\.js|data.copc|api\.js|save.las_file|texts.texts)/;
const NAMES = /^(SQLite format 3|return number|number of returns|seen from above|without points|over plane|mark plane|label plane|ends long|filter-head classes|clip box|saved view|more mark|Solid line|laszip encoded|not in|US ft|Remove|Files|Page|Arrow|Escape|Enter|Point|Polygon|Feature|Potree|no (range of|returns) .*|the page has no up\.wasm)$/;
const CODE = /gl_|void main|^\s*(uniform|in|out|precision) |system-ui|^<|linear-gradient|^(view seq|shown frame|pick id)=|^face axis|^(uniform|in|precision)/;

test('no text stands outside of the table', () => {
    const outside = [];
    for (const { name, text } of FILES) {
        if (READERS.test(name)) continue;
        if (name.endsWith('.html')) {
            const shown = text.replace(/<!--[^]*?-->|<(script|style)[^]*?<\/\1>|<title>[^<]*<\/title>/g, '');
            for (const [, words] of shown.matchAll(/>([^<>]*[A-Za-z]{2}[^<>]*)</g)) if (!/^\s*(mote|CSV|LAS|DXF|PNG)\s*$/.test(words)) outside.push(`${name}: ${words.trim()}`);
            for (const [, attribute, words] of shown.matchAll(/ (title|aria-label|placeholder)="([^"]*[a-z]{3}[^"]*)"/g)) if (!/https:|&amp;&amp;|&lt;/.test(words)) outside.push(`${name}: ${attribute} ${words}`);
            continue;
        }
        for (const literal of literals(text)) {
            const isWords = /[A-Za-z]{2,} [a-z]{2,}/.test(literal) || /^[A-Z][a-z]{2,}$/.test(literal);
            if (isWords && !NAMES.test(literal) && !CODE.test(literal)) outside.push(`${name}: ${literal.slice(0, 80)}`);
        }
    }
    assert.deepEqual(outside, []);
    assert.deepEqual(literals("const a = `x ${f({ b: `in ner` })} of it`; // 'no'\nconst r = /it's/; 'yes'"), ['in ner', 'x ${} of it', 'yes'], 'the reader reads');
});

test('what a worker says comes with its causes, in the language of the page', async () => {
    const fault = told(DataError, 'decode.fault', { why: { key: 'a layer ends too early' }, done: 3, points: 9 });
    const node = told(DataError, 'decode.node', { file: 'a.copc.laz', node: 'r7', why: causeOf(fault) });
    const { key, values } = structuredClone(causeOf(node)); // as it is sent
    const { default: de } = await import(pathToFileURL(join(SOURCE, 'texts/de.js')).href);
    const german = (key, values) => de[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
    const error = told(DataError, key, values);
    assert.equal(error.message, 'a.copc.laz: node r7: a layer ends too early, after 3 of 9 points');
    useWords(german);
    try {
        assert.equal(error.message, 'a.copc.laz: Knoten r7: eine Schicht endet zu früh, nach 3 von 9 Punkten');
        assert.equal(told(DataError, 'decode.brotli', { why: causeOf(new TypeError('x')) }).message, 'kein gültiger Brotli-Strom (x)');
    } finally {
        useWords(t);
    }
});
