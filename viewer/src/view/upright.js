// Which axis is up where nothing says so, by the rule of `mote render`: cli/render/up_rule.c, compiled to up.wasm.
const FOUND = ['asked', 'custom', 'survey', 'camera', 'standing']; // up_reason of up_rule.h
const AXES = ['x', 'y', 'z', '-x', '-y', '-z'];

// Where a cloud is looked at from first, as by `mote render`: what a depth camera saw has no other side than that towards it.
export const sideOf = (reason) => (reason === 'camera' ? { yaw: 0, pitch: 0 } : {});

// Whether a laser saw several things along a ray, as lasers of surveys do.
export const hasSeveralReturns = ({ hasReturns, channels }) => hasReturns || channels.find(({ key }) => /^number of returns$/i.test(key))?.range?.[1] > 1;

// Surveys have heights along z: a reference system of the earth, or several returns.
export const isSurvey = (meta) => meta.projection !== '' || meta.isLonLat || hasSeveralReturns(meta);

export async function loadUpRule() {
    const response = await fetch(new URL('up.wasm', import.meta.url));
    if (!response.ok) throw new Error('the page has no up.wasm');
    return (await WebAssembly.instantiate(await response.arrayBuffer())).instance.exports;
}

// positions: x, y, z of each point, relative to `corner`; bounds { min, max } in the coordinates of the data: of the points
// that count. Returns { up, reason }.
export function findUp(rule, positions, corner, { min, max }) {
    const count = positions.length / 3;
    const taken = new Uint32Array(count);
    let n = 0;
    for (let i = 0; i < count; i++) {
        let isInside = true;
        for (let k = 0; k < 3; k++) {
            const c = positions[3 * i + k] + corner[k];
            isInside &&= c >= min[k] && c <= max[k];
        }
        if (isInside) taken[n++] = i;
    }
    const at = rule.up_reserve(n);
    if (at === 0) return { up: 'z', reason: 'custom' };
    const rows = new Float32Array(rule.memory.buffer, at, 3 * n);
    for (let k = 0; k < 3; k++) for (let i = 0; i < n; i++) rows[k * n + i] = positions[3 * taken[i] + k] + corner[k] - min[k];
    const found = rule.up_find(at, n, ...min, ...max);
    return { up: AXES[found % 8], reason: FOUND[found >> 3] };
}
