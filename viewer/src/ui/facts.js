// What the data set is: the list at the foot of the panel, the title of the page.
import { unitName } from '../measure/figures.js';
import { count, crsName, integer, plain, resolution, value } from './format.js';

const $ = (id) => document.getElementById(id);

const extent = (meta, i) => {
    const span = meta.box.max[i] - meta.box.min[i];
    return value(span, span || 1);
};

// Width, length and height; of degrees also what they are on the ground.
function size(meta) {
    const spans = [0, 1, 2].map((i) => extent(meta, i));
    if (!meta.isLonLat) return spans.join(' × ') + (meta.crs?.metres === 1 && meta.stretch[2] === 1 ? '\u00a0m' : '');
    const metres = meta.box.max.map((m, i) => (m - meta.box.min[i]) * meta.stretch[i]);
    return `${metres.map((m) => value(m, m || 1)).join(' × ')}\u00a0m`;
}

// Why the picture is not as wide as the numbers say, and how to have it otherwise.
function drawn(meta) {
    const [east, north] = meta.stretch.map((m) => integer(m));
    const vertical = meta.stretch[2] === 1 ? 'heights as metres' : `heights × ${plain(meta.stretch[2])}`;
    return `Longitude and latitude are drawn in metres: 1° east = ${east} m, 1° north = ${north} m, ${vertical}. `
        + 'Coordinates shown are those of the file. With lonlat=0 in the address the numbers are drawn as they are.';
}

const heights = (meta) => `Heights are in another unit than x and y: drawn × ${plain(meta.stretch[2])}.`;

// A data set may name a system that its numbers cannot be in.
function reference(meta) {
    const name = crsName(meta.projection);
    return meta.crs?.kind === 'geographic' && !meta.isLonLat ? `${name}; the coordinates are not degrees` : name;
}

// What coordinates count in, as far as it is known: 'm', 'US ft, heights m', '°, heights not known'.
function units({ crs, isLonLat }) {
    const across = isLonLat ? '°' : crs?.metres ? unitName(crs.metres) : '';
    const up = crs?.verticalMetres ? unitName(crs.verticalMetres) : '';
    if (!across && !up) return '';
    return across === up ? across : `${across || 'not known'}, heights ${up || 'not known'}`;
}

// [name, text, style] of each line.
export function rows(meta, from = null) {
    const levels = meta.depth === null ? 'not given' : integer(meta.depth + 1);
    return [
        ...(from ? [['From', from, 'long']] : []),
        ['Points', integer(meta.sourcePoints)],
        ['Size', size(meta)],
        ['Reference system', reference(meta), 'long'],
        ...(units(meta) ? [['Units', units(meta)]] : []),
        ...(meta.isLonLat ? [['Drawn', drawn(meta), 'long']] : []),
        ...(!meta.isLonLat && meta.stretch[2] !== 1 ? [['Drawn', heights(meta), 'long']] : []),
        ['Scheme', meta.scheme],
        ['Encoding', meta.encoding.toLowerCase()],
        ['Levels', levels],
        ...(meta.points === meta.sourcePoints ? [] : [['Stored', integer(meta.points)]]),
        ['Resolution', resolution(meta)],
        ['Lowest corner', corner(meta, meta.box.min), 'long'],
        ['Highest corner', corner(meta, meta.box.max), 'long'],
        ['Attributes', meta.layout.attributes.map((a) => a.name).join(', '), 'long'],
        ...(meta.flags.length > 0 ? [['Flags', meta.flags.join(', ').toLowerCase(), 'long']] : []),
        ...(meta.description ? [['Description', meta.description, 'long']] : []),
    ];
}

// With a thousandth of the data set's size, which a person can compare, and no more digits than that.
function corner(meta, point) {
    return point.map((c, i) => value(c, meta.box.max[i] - meta.box.min[i] || 1)).join(', ');
}

// from: the server that the data comes from, where that is not the page's own.
export function showFacts(meta, from) {
    document.title = `${meta.name} – mote`;
    $('title').textContent = meta.name;
    $('subtitle').textContent = count(meta.sourcePoints, 'point') + (meta.isLonLat ? ', longitude and latitude drawn in metres' : '');
    $('facts').replaceChildren(...rows(meta, from).flatMap(([name, text, style]) => {
        const dt = document.createElement('dt');
        const dd = document.createElement('dd');
        dt.textContent = name;
        dd.textContent = text;
        if (style) dd.className = style;
        if (name === 'Reference system') dd.title = meta.projection;
        return [dt, dd];
    }));
}
