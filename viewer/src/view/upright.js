// Which axis is up where nothing says so, by the rule of `mote render`: cli/render/up_rule.c, compiled to up.wasm.
const FOUND = ['asked', 'custom', 'survey', 'camera', 'standing']; // up_reason of up_rule.h
const AXES = ['x', 'y', 'z', '-x', '-y', '-z'];

// Surveys have heights along z: a reference system of the earth, or a laser's several returns.
export function isSurvey({ projection, isLonLat, hasReturns, channels }) {
    const returns = channels.find(({ key }) => /^number of returns$/i.test(key));
    return projection !== '' || isLonLat || hasReturns || returns?.range?.[1] > 1;
}

export async function loadUpRule() {
    const response = await fetch(new URL('up.wasm', import.meta.url));
    if (!response.ok) throw new Error('the page has no up.wasm');
    return (await WebAssembly.instantiate(await response.arrayBuffer())).instance.exports;
}

// positions: x, y, z of each point, relative to `corner`; bounds { min, max } in the coordinates of the data: of the points
// that count. Returns { up, reason }.
export function findUp(rule, positions, corner, { min, max }) {
    const taken = [];
    for (let i = 0; i < positions.length; i += 3) {
        const place = [0, 1, 2].map((k) => positions[i + k] + corner[k]);
        if (place.every((c, k) => c >= min[k] && c <= max[k])) taken.push(place);
    }
    const at = rule.up_reserve(taken.length);
    if (at === 0) return { up: 'z', reason: 'custom' };
    const rows = new Float32Array(rule.memory.buffer, at, 3 * taken.length);
    for (let k = 0; k < 3; k++) taken.forEach((place, i) => (rows[k * taken.length + i] = place[k] - min[k]));
    const found = rule.up_find(at, taken.length, ...min, ...max);
    return { up: AXES[found % 8], reason: FOUND[found >> 3] };
}
