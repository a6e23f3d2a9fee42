// GPS times of LAS files as people read them.
import { t } from '../texts/texts.js';
import { ADJUSTMENT } from './time_kind.js';

const GPS_EPOCH_MS = Date.UTC(1980, 0, 6);
// Leap seconds since the epoch of GPS, in milliseconds of UTC (IERS Bulletin C). UTC = GPS time - their number.
const LEAPS = [
    [1981, 6], [1982, 6], [1983, 6], [1985, 6], [1988, 0], [1990, 0], [1991, 0], [1992, 6], [1993, 6], [1994, 6],
    [1996, 0], [1997, 6], [1999, 0], [2006, 0], [2009, 0], [2012, 6], [2015, 6], [2017, 0],
].map(([year, month]) => Date.UTC(year, month, 1));

const two = (n) => String(n).padStart(2, '0');

// Digits after the second that tell the ends of a span apart.
const digitsFor = (span) => (span > 0 && span < 30 ? Math.min(6, Math.max(1, 2 - Math.floor(Math.log10(span)))) : 0);

function clock(secondsOfDay, digits) {
    const unit = 10 ** digits;
    const all = Math.min(Math.floor(secondsOfDay * unit + 1e-6), 86400 * unit - 1) / unit;
    const seconds = (all % 60).toFixed(digits).padStart(digits > 0 ? 3 + digits : 2, '0');
    return `${two(Math.floor(all / 3600))}:${two(Math.floor(all / 60) % 60)}:${seconds}`;
}

// '2016-02-03 04:05:06 UTC'. seconds: adjusted standard GPS time.
export function adjustedTime(seconds, span = Infinity) {
    const gpsMs = GPS_EPOCH_MS + (seconds + ADJUSTMENT) * 1000;
    const leaps = LEAPS.filter((leap, i) => gpsMs >= leap + (i + 1) * 1000).length;
    const utc = gpsMs / 1000 - leaps;
    const day = Math.floor(utc / 86400);
    const date = new Date(day * 86400000).toISOString().slice(0, 10);
    return `${date} ${clock(utc - day * 86400, digitsFor(span))} UTC`;
}

// 'Tuesday 12:34:56': seconds since the midnight before Sunday, in GPS time; which week it is the file does not say.
export function weekTime(seconds, span = Infinity) {
    const day = Math.floor(seconds / 86400);
    return `${day >= 0 && day < 7 ? t(`day.${day}`) : t('day', { day })} ${clock(seconds - day * 86400, digitsFor(span))}`;
}
