// What the GPS times of a LAS file count.
export const ADJUSTMENT = 1e9; // adjusted standard time is standard time minus this (LAS 1.4, global encoding)
export const WEEK_SECONDS = 604800;
const LAST_ADJUSTED = 1.05e9; // the end of 2044; what is larger counts from another epoch

// 'adjusted', 'week', or null where the numbers fit neither. globalEncoding: of the LAS header, where it is known.
// Writers forget its bit, so times that no week holds are adjusted whatever it says.
export function timeKind([min, max], globalEncoding) {
    if (max === 0 || (min === 0 && max === 1)) return null; // nothing was recorded
    if (min >= 0 && max <= WEEK_SECONDS && !(globalEncoding & 1)) return 'week';
    return min >= -ADJUSTMENT && max <= LAST_ADJUSTED ? 'adjusted' : null;
}
