// Longitude and latitude are drawn in metres: degrees and metres of height in one picture would make a thread.

const DEGREE_STEP = 1e-6; // files in degrees count in steps of this or less: 11 cm
const UNIT_RATIO = 100; // steps or extents of height so many times those of x and y are in another unit
const HEIGHTS_METRES = [-12000, 9000]; // from the deepest sea to the highest mountain

// Metres per degree on the WGS 84 ellipsoid (NGA.STND.0036, series in the latitude).
export function metresPerDegree(latitude) {
    const phi = (latitude * Math.PI) / 180;
    return {
        east: 111412.84 * Math.cos(phi) - 93.5 * Math.cos(3 * phi) + 0.118 * Math.cos(5 * phi),
        north: 111132.92 - 559.82 * Math.cos(2 * phi) + 1.175 * Math.cos(4 * phi) - 0.0023 * Math.cos(6 * phi),
    };
}

export const DEGREE = 0.017453292519943295; // radians, as the library has it

// Degrees of one of the angles that coordinates are: some systems count in grads.
const degreesOf = (crs) => (crs?.radians ?? DEGREE) / DEGREE;

// Whether the points could be on a globe: -180..180 or 0..360 degrees to the east.
const fitsGlobe = ({ min, max }, size) =>
    min[0] * size >= -180 && max[0] * size <= 360 && (max[0] - min[0]) * size <= 360 && min[1] * size >= -90 && max[1] * size <= 90;

// 1e-7 and the like: steps of numbers that were written as decimals.
const isDecimal = (step) => Math.abs(step * 10 ** Math.round(-Math.log10(step)) - 1) < 1e-9;

// Where no system is named: numbers with six or more decimals east and north, and heights that count in much coarser
// steps, or are a thread of that width otherwise.
function looksGeographic(box, scale) {
    const step = Math.max(scale[0], scale[1]);
    const [width, length, height] = box.max.map((m, i) => m - box.min[i]);
    const isEarthly = box.min[2] >= HEIGHTS_METRES[0] && box.max[2] <= HEIGHTS_METRES[1];
    const isThread = height >= UNIT_RATIO * Math.max(width, length) && width > 0 && length > 0;
    return step <= DEGREE_STEP && isDecimal(scale[0]) && isDecimal(scale[1]) && isEarthly && (scale[2] >= UNIT_RATIO * step || isThread);
}

// crs: what parseCrs() gave. A file may name a system that its points are not in, and a file in degrees may name none.
export function isGeographic(crs, box, scale) {
    if (!fitsGlobe(box, degreesOf(crs))) return false;
    return crs?.kind ? crs.kind === 'geographic' : !crs && looksGeographic(box, scale);
}

// What each axis is multiplied by for drawing: heights may be in another unit than x and y.
export function stretchOf(crs, box, isLonLat) {
    if (isLonLat) return metresPerUnit(crs, box);
    const height = crs?.metres && crs.verticalMetres ? crs.verticalMetres / crs.metres : 1;
    return [1, 1, height];
}

// Of degrees (or other angles): [metres of one east, of one north, metres per unit of height].
export function metresPerUnit(crs, box) {
    const size = degreesOf(crs);
    const latitude = (size * (box.min[1] + box.max[1])) / 2;
    // Next to a pole a degree east is nothing, and the picture would be a line.
    const { east, north } = metresPerDegree(Math.max(-89, Math.min(89, latitude)));
    return [east * size, north * size, crs?.verticalMetres ?? 1];
}
