// What the data set is: the list at the foot of the panel, the title of the page.
import { crsName, integer, value } from './format.js';

const $ = (id) => document.getElementById(id);

function rows(meta) {
    const size = meta.box.max.map((m, i) => value(m - meta.box.min[i], m - meta.box.min[i] || 1)).join(' × ');
    return [
        ['Points', integer(meta.sourcePoints)],
        ['Size', size],
        ['Reference system', crsName(meta.projection)],
        ['Scheme', meta.scheme],
        ['Encoding', meta.encoding.toLowerCase()],
        ['Depth', meta.depth ? `${meta.depth} levels` : 'not given'],
        ...(meta.points === meta.sourcePoints ? [] : [['Stored', integer(meta.points)]]),
        ['Resolution', meta.scale.every((s) => s === meta.scale[0]) ? String(meta.scale[0]) : meta.scale.join(', ')],
        ['Lowest corner', meta.box.min.map((m) => value(m, 1)).join(', '), 'long'],
        ['Highest corner', meta.box.max.map((m) => value(m, 1)).join(', '), 'long'],
        ['Attributes', meta.layout.attributes.map((a) => a.name).join(', '), 'long'],
        ...(meta.flags.length > 0 ? [['Flags', meta.flags.join(', ').toLowerCase(), 'long']] : []),
        ...(meta.description ? [['Description', meta.description, 'long']] : []),
    ];
}

export function showFacts(meta) {
    document.title = `${meta.name} – mote`;
    $('title').textContent = meta.name;
    $('subtitle').textContent = `${integer(meta.sourcePoints)} points`;
    $('facts').replaceChildren(...rows(meta).flatMap(([name, text, style]) => {
        const dt = document.createElement('dt');
        const dd = document.createElement('dd');
        dt.textContent = name;
        dd.textContent = text;
        if (style) dd.className = style;
        return [dt, dd];
    }));
    if (meta.projection.length > 60) $('facts').querySelectorAll('dd')[2].title = meta.projection;
}
