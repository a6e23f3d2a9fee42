// Longitude and latitude are drawn in metres: degrees and metres of height in one picture would make a thread.

const METRE_SCALE_RATIO = 100; // a height that counts in steps so much coarser than x and y is not in their unit
const DEGREE_STEP = 1e-6; // files in degrees count in steps of this or less: 11 cm

// Metres per degree on the WGS 84 ellipsoid (NGA.STND.0036, series in the latitude).
export function metresPerDegree(latitude) {
    const phi = (latitude * Math.PI) / 180;
    return {
        east: 111412.84 * Math.cos(phi) - 93.5 * Math.cos(3 * phi) + 0.118 * Math.cos(5 * phi),
        north: 111132.92 - 559.82 * Math.cos(2 * phi) + 1.175 * Math.cos(4 * phi) - 0.0023 * Math.cos(6 * phi),
    };
}

// Whether the points could be on a globe of degrees: -180..180 or 0..360 to the east.
const fitsGlobe = ({ min, max }) =>
    min[0] >= -180 && max[0] <= 360 && max[0] - min[0] <= 360 && min[1] >= -90 && max[1] <= 90;

// crs: what parseCrs() gave. A file may name a system that its points are not in, and a file in degrees may name none:
// then the steps in which it counts tell.
export function isGeographic(crs, box, scale) {
    if (!fitsGlobe(box)) return false;
    if (crs?.kind) return crs.kind === 'geographic';
    const step = Math.max(scale[0], scale[1]);
    return !crs && step <= DEGREE_STEP && scale[2] >= METRE_SCALE_RATIO * step;
}

// What each axis is multiplied by for drawing: [metres per degree east, north, metres per unit of height].
export function metresPerUnit(crs, box) {
    const latitude = (box.min[1] + box.max[1]) / 2;
    // Next to a pole a degree east is nothing, and the picture would be a line.
    const { east, north } = metresPerDegree(Math.max(-89, Math.min(89, latitude)));
    return [east, north, crs?.verticalMetres ?? 1];
}
