// What the page says, in the language that a person chose, or else that of the browser. Each language is a file beside this one
// with the same keys as en.js; what one does not have is said in English. docs/viewer_reference.md says how to add one.
import { useWords } from '../data/errors.js';
import { kept } from '../ui/kept.js';
import en from './en.js';

// Their own names, and the files.
export const LANGUAGES = { en: ['English', null], de: ['Deutsch', () => import('./de.js')] };

function chosen() {
    const wanted = [kept('language'), ...(globalThis.navigator?.languages ?? [])].filter(Boolean).map((tag) => tag.toLowerCase().split('-')[0]);
    return wanted.find((language) => Object.hasOwn(LANGUAGES, language)) ?? 'en';
}

export let language = chosen();
let own = en;
try {
    const table = (await LANGUAGES[language][1]?.())?.default ?? en;
    own = Array.isArray(table) ? Object.fromEntries(Object.keys(en).map((key, i) => [key, table[i]])) : table; // see build.mjs
} catch {
    language = 'en'; // its file did not arrive
}

// The text of a key. values: of the {names} in it.
export function t(key, values = {}) {
    return (own[key] || en[key] || key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
}

useWords(t);

// Whether there is a text of a name that may come from a file.
export const has = (key) => Object.hasOwn(en, key);

const ATTRIBUTES = [['t', null], ['title', 'title'], ['label', 'aria-label'], ['hint', 'placeholder']];

// Elements name their texts: data-t what is in them, data-title, data-label and data-hint those of their attributes.
export function translate(root) {
    root.documentElement?.setAttribute('lang', language);
    for (const [name, attribute] of ATTRIBUTES) {
        for (const e of root.querySelectorAll(`[data-${name}]`)) {
            const text = t(e.dataset[name]);
            if (attribute) e.setAttribute(attribute, text);
            else e.textContent = text;
        }
    }
}
