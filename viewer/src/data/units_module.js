// What coordinates count in, by the library's own code, compiled to WebAssembly (viewer/wasm/page_units.c): the same units as
// `mote info` and `mote measure` say. For data sets whose metadata does not say it: COPC files, and folders that others wrote.
import { textOf } from './table.js';

let loaded = null;
// The module, fetched once. compiled: a WebAssembly.Module that is there already, so that tests in node use it too.
export function loadUnits(compiled = null) {
    loaded ??= (compiled ? Promise.resolve(compiled) : fetch(new URL('units.wasm', globalThis.location?.href)).then(async (response) => {
        if (!response.ok) throw new Error(`units.wasm: ${response.status}`);
        return WebAssembly.compile(await response.arrayBuffer());
    })).then((module) => {
        const digits = (at, length) => Number(String.fromCharCode(...new Uint8Array(memory.buffer, at, length)));
        const { memory, ...calls } = new WebAssembly.Instance(module, { env: { pow: Math.pow, number: digits } }).exports;
        return { memory, ...calls };
    });
    loaded.catch(() => (loaded = null)); // the next data set asks again
    return loaded;
}

const NONE = new Uint8Array(0);

// keys, numbers: the GeoTIFF records of a LAS file. Returns what "mote.units" of metadata.json says, where mote wrote it.
function decide({ memory, units_reserve: reserve, units_decide: decideUnits }, text, keys = NONE, numbers = NONE) {
    const system = new TextEncoder().encode(`${text.replace(/\0[^]*$/, '')}\0`);
    const at = reserve(system.length + keys.length + numbers.length);
    if (at === 0) return null;
    let end = at;
    for (const bytes of [system, keys, numbers]) {
        new Uint8Array(memory.buffer, end, bytes.length).set(bytes);
        end += bytes.length;
    }
    const sizes = new Float64Array(memory.buffer, decideUnits(at, system.length, keys.length, numbers.length), 4);
    const unit = (metres, radians) => (metres > 0 ? { metres } : radians > 0 ? { radians } : null);
    return { horizontal: unit(sizes[0], sizes[1]), vertical: unit(sizes[2], sizes[3]) };
}

// json: as metadata.json, which gets the units where it does not say them. A page without the module knows no units.
export async function withDecidedUnits(json, { keys, numbers } = {}) {
    if (json === null || typeof json !== 'object' || json.mote?.units !== undefined) return json;
    const text = textOf(json.mote?.crs) || textOf(json.projection);
    const units = text || keys ? await loadUnits().then((module) => decide(module, text, keys, numbers), () => null) : null;
    return { ...json, mote: { ...json.mote, units } };
}
