// Numbers as people read them.
export const integer = (n) => Math.round(n).toLocaleString('en-US').replaceAll(',', ' ');

export function short(n) {
    if (n >= 1e9) return `${(n / 1e9).toFixed(2)} G`;
    if (n >= 1e6) return `${(n / 1e6).toFixed(n >= 1e7 ? 0 : 1)} M`;
    if (n >= 1e4) return `${Math.round(n / 1e3)} k`;
    return integer(n);
}

// A value of a range, with the digits that tell its ends apart.
export function value(v, span) {
    if (!Number.isFinite(v)) return '–';
    if (span > 0 && span < 1e-6) return v.toPrecision(9);
    const digits = span > 0 ? Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(span)))) : 3;
    return String(Number(v.toFixed(digits)));
}

// The name of a coordinate system inside its WKT or proj4 text.
export function crsName(text) {
    if (!text) return 'not given';
    const named = /^\s*(?:COMPD_CS|COMPOUNDCRS|PROJCS|PROJCRS|GEOGCS|GEOGCRS|BOUNDCRS|LOCAL_CS)\s*\[\s*"([^"]+)"/i.exec(text);
    if (named) return named[1];
    const epsg = /(EPSG:\d+)/i.exec(text);
    return epsg ? epsg[1].toUpperCase() : text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
