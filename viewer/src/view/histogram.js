// How often values occur, in bins of equal width. Pure.
export const BINS = 64;

// The share of the values in each bin of [low, high], relative to the fullest.
export function histogram(values, [low, high], bins = BINS) {
    const counts = new Float64Array(bins);
    const factor = high > low ? bins / (high - low) : 0;
    for (const v of values) if (v >= low && v <= high) counts[Math.min(bins - 1, Math.floor((v - low) * factor))]++;
    const most = Math.max(...counts);
    return most > 0 ? Array.from(counts, (n) => n / most) : Array.from(counts);
}
