// Whether a cloud is a room, seen into from above only without its ceiling: over most of its plan the highest point lies
// in one level plane, and under most of these places the lowest one lies in another. (An aerial survey has nothing below
// its roofs, and a wood no plane on top.) And there are walls. What was seen through windows is no part of the plan: it is sparse.
// Ceilings may slope, and be lower beside a hall: then there is nothing in the middle between them and the level floor.
// Pure.
const SLICES = 64; // of the height: as thick as a ceiling may be rough
const CELL_POINTS = 9; // of floor and ceiling, in a cell of the plan
const [MIN_CELLS, MAX_CELLS] = [8, 64]; // along the diagonal of the plan
const MIN_POINTS = 500; // with fewer, cells say nothing
const SPARSE = 0.1; // of the points that the column of a point has on the mean: what has fewer was seen from afar
const CEILING_SHARE = 0.4; // of the plan
const FLOOR_SHARE = 0.5; // of the ceiling's plan
const MIN_ROOM = 0.4; // of the plan's height, between floor and ceiling
const PERSON = 1.8; // metres: a room is higher
const LOW = 0.02; // of the plan's narrower side, where metres are not known: the noise of flat ground is a sheet, no room
const WALLS_SHARE = 0.05; // of the points, which lie between floor and ceiling
const STRIDE = 1000; // of the keys of cells
const KNEE = 1.2; // metres, of sloping ceilings: as high as plans are cut, where a lower one would be
const INSIDE = 0.1; // of a column's points, in its middle half: of walls there are more
const STEEP = SLICES / 4;
const LOWEST = 0.1; // of the ceilings' plan may stay covered
const BELOW = 2.5; // slices, that the cut lies below the ceiling's own: lamps and beams go with it

// The fullest bin together with those beside it: [bin, count].
function fullest(bins) {
    let best = [0, 0];
    for (let i = 0; i < bins.length; i++) {
        const count = bins[i] + (bins[i - 1] ?? 0) + (bins[i + 1] ?? 0);
        if (count > best[1]) best = [i, count];
    }
    return best;
}

// The slice of the lowest ceiling of some extent, where ceilings slope or differ in height; null where all are level or there
// are none. columns: [lowest slice, highest, points, those in the middle half, key]; knee: the least height of a room.
function otherCut(columns, plan, level, knee) {
    const [floor] = fullest(plan.reduce((bins, [bottom]) => (bins[bottom]++, bins), new Array(SLICES).fill(0)));
    const tall = plan.filter(([bottom, top]) => Math.abs(bottom - floor) <= 1 && top - bottom >= knee);
    const hollow = tall.filter(([, , n, inside]) => inside <= INSIDE * n);
    // Of a roof, not of crowns: beside a place it goes on as before it.
    const bends = hollow.flatMap(([, top, , , key]) => [1, STRIDE].map((step) => Math.abs((columns.get(key - step)?.[1] ?? NaN) + (columns.get(key + step)?.[1] ?? NaN) - 2 * top)));
    const smooth = bends.filter((bend) => bend <= 2).length;
    const tops = hollow.map(([, top]) => top).sort((a, b) => a - b);
    const lowest = tops[Math.floor(LOWEST * tops.length)];
    const isSteep = tops.at(-1) - lowest > STEEP; // then eaves may be so low that walls are not tall
    const isRoof = hollow.length > CEILING_SHARE * plan.length && smooth > bends.length / 2 && (isSteep || tall.length - hollow.length > WALLS_SHARE * plan.length);
    return isRoof && lowest < level - 1 ? Math.max(lowest, floor + knee) : null;
}

// points: count places; placeOf(i) -> [a, b, height], the heights increasing upwards. metres: of one of its lengths; 0: not
// known. Returns the height of the cut, or null.
export function ceilingCut(count, placeOf, metres = 0) {
    if (count < MIN_POINTS) return null;
    const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    for (let i = 0; i < count; i++) {
        const place = placeOf(i);
        for (let k = 0; k < 3; k++) {
            if (place[k] < low[k]) low[k] = place[k];
            if (place[k] > high[k]) high[k] = place[k];
        }
    }
    const [width, length, height] = high.map((h, k) => h - low[k]);
    const smallest = metres > 0 ? PERSON / metres : LOW * Math.min(width, length);
    if (!(height > 0 && height >= smallest)) return null;
    const cells = Math.min(MAX_CELLS, Math.max(MIN_CELLS, Math.sqrt(count / CELL_POINTS)));
    const side = Math.hypot(width, length) / cells || 1;
    const columns = new Map();
    const slices = new Array(SLICES).fill(0);
    const sliceOf = (h) => Math.min(SLICES - 1, Math.floor(((h - low[2]) / height) * SLICES));
    const keyOf = ([a, b]) => Math.floor((a - low[0]) / side) * STRIDE + Math.floor((b - low[1]) / side);
    for (let i = 0; i < count; i++) {
        const place = placeOf(i);
        const key = keyOf(place);
        const slice = sliceOf(place[2]);
        const column = columns.get(key);
        slices[slice]++;
        if (!column) columns.set(key, [slice, slice, 1, 0, key]);
        else {
            column[0] = Math.min(column[0], slice);
            column[1] = Math.max(column[1], slice);
            column[2]++;
        }
    }
    for (let i = 0; i < count; i++) {
        const place = placeOf(i);
        const column = columns.get(keyOf(place));
        const quarter = (column[1] - column[0]) / 4;
        if (Math.abs(sliceOf(place[2]) - column[0] - 2 * quarter) < quarter) column[3]++;
    }
    const usual = [...columns.values()].reduce((sum, [, , n]) => sum + n * n, 0) / count;
    const plan = [...columns.values()].filter(([, , n]) => n >= SPARSE * usual);
    const tallest = Math.max(...plan.map(([, top]) => top)) - Math.min(...plan.map(([bottom]) => bottom)) + 1;
    const tops = new Array(SLICES).fill(0);
    const bottoms = new Array(SLICES).fill(0);
    for (const [, top] of plan) tops[top]++;
    const [ceiling, over] = fullest(tops);
    for (const [bottom, top] of plan) if (Math.abs(top - ceiling) <= 1) bottoms[bottom]++;
    const [floor, under] = fullest(bottoms);
    const isTwo = over > CEILING_SHARE * plan.length && under > FLOOR_SHARE * over; // ceiling and floor
    const isHigh = isTwo && ceiling - floor > MIN_ROOM * tallest && ((ceiling - floor + 1) / SLICES) * height >= smallest;
    const between = slices.slice(floor + 2, ceiling - 1).reduce((sum, n) => sum + n, 0);
    const isRoom = isHigh && between > WALLS_SHARE * count;
    const person = metres > 0 ? (KNEE / metres / height) * SLICES : MIN_ROOM * tallest;
    const cut = otherCut(columns, plan, isRoom ? ceiling : SLICES, person) ?? (isRoom ? ceiling : null);
    return cut === null ? null : low[2] + ((cut - BELOW) / SLICES) * height;
}
