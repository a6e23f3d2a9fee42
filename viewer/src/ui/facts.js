// What the data set is: the list at the foot of the panel, the title of the page.
import { drawnMetres, heightMetres, shown } from '../measure/units.js';
import { coordinateUnits, count, crsName, integer, plain, resolution, value, withUnit } from './format.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);

// Width, length and height, each in the unit that figures are shown in.
function size(meta, { units, coordinates }) {
    const spans = meta.box.max.map((m, i) => (m - meta.box.min[i]) * (meta.isLonLat ? meta.stretch[i] : 1));
    const metres = [drawnMetres(meta, coordinates), drawnMetres(meta, coordinates), meta.isLonLat ? 1 : heightMetres(meta, coordinates)];
    const texts = spans.map((v, i) => {
        const figure = shown(v, metres[i], units);
        return { text: value(figure.value, figure.value || 1), unit: figure.unit };
    });
    const isOne = texts.every(({ unit }) => unit === texts[0].unit);
    const words = texts.map(({ text, unit }, i) => text + (unit && (!isOne || i === 2) ? `\u00a0${unit}` : ''));
    return words.join(' × ');
}

// Why the picture is not as wide as the numbers say, and how to have it otherwise.
function drawn(meta) {
    const [east, north] = meta.stretch.map((m) => integer(m));
    const vertical = meta.stretch[2] === 1 ? t('fact.metres') : t('fact.times', { factor: plain(meta.stretch[2]) });
    return t('fact.degrees', { one: withUnit('1', coordinateUnits(meta)[0]), east, north, vertical });
}

const heights = (meta) => t('fact.heights', { factor: Number(meta.stretch[2].toPrecision(9)) });

// A data set may name a system that its numbers cannot be in.
function reference(meta) {
    const name = crsName(meta.projection);
    return meta.crs?.kind === 'geographic' && !meta.isLonLat ? t('fact.not.degrees', { name }) : name;
}

// What coordinates count in, as far as it is known: 'm', 'US ft, heights m', '°, heights not known'.
function units(meta, settings) {
    const [across, , up] = coordinateUnits(meta, settings.coordinates);
    if (!across && !up) return '';
    return across === up ? across : t('fact.both', { across: across || t('not.known'), up: up || t('not.known') });
}

// [name, text, style] of each line.
export function rows(meta, settings, from = null) {
    const levels = meta.depth === null ? t('not.given') : integer(meta.depth + 1);
    return [
        ...(from ? [[t('fact.from'), from, 'long']] : []),
        [t('fact.points'), integer(meta.sourcePoints)],
        [t('fact.size'), size(meta, settings)],
        [t('fact.system'), reference(meta), 'long'],
        ...(units(meta, settings) ? [[t('fact.units'), units(meta, settings)]] : []),
        ...(meta.isLonLat ? [[t('fact.drawn'), drawn(meta), 'long']] : []),
        ...(!meta.isLonLat && meta.stretch[2] !== meta.stretch[0] ? [[t('fact.drawn'), heights(meta), 'long']] : []),
        [t('fact.scheme'), meta.scheme],
        [t('fact.encoding'), meta.encoding.toLowerCase()],
        [t('fact.levels'), levels],
        ...(meta.points === meta.sourcePoints ? [] : [[t('fact.stored'), integer(meta.points)]]),
        [t('fact.resolution'), resolution(meta, settings.coordinates)],
        [t('fact.low'), corner(meta, settings, meta.box.min), 'long'],
        [t('fact.high'), corner(meta, settings, meta.box.max), 'long'],
        [t('fact.attributes'), meta.layout.attributes.map((a) => a.name).join(', '), 'long'],
        ...(meta.flags.length > 0 ? [[t('fact.flags'), meta.flags.join(', ').toLowerCase(), 'long']] : []),
        ...(meta.description ? [[t('fact.description'), meta.description, 'long']] : []),
    ];
}

// With a thousandth of the data set's size, which a person can compare, and no more digits than that.
function corner(meta, settings, point) {
    const units = coordinateUnits(meta, settings.coordinates);
    return point.map((c, i) => withUnit(value(c, meta.box.max[i] - meta.box.min[i] || 1), units[i])).join(', ');
}

// from: the server that the data comes from, where that is not the page's own.
export function showFacts(meta, settings, from) {
    document.title = `${meta.name} – mote`;
    $('title').textContent = meta.name;
    $('subtitle').textContent = count(meta.sourcePoints, 'point') + (meta.isLonLat ? t('fact.lonlat') : '');
    $('facts').replaceChildren(...rows(meta, settings, from).flatMap(([name, text, style]) => {
        const dt = document.createElement('dt');
        const dd = document.createElement('dd');
        dt.textContent = name;
        dd.textContent = text;
        if (style) dd.className = style;
        if (name === t('fact.system')) dd.title = meta.projection;
        return [dt, dd];
    }));
}
