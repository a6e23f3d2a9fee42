// Elements of SVG, and how wide the texts of labels are.
const MAX_WIDTHS = 20000; // that are kept

export function svg(tag, attributes = {}) {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    return e;
}

let ruler = null;
const widths = new Map();

export function widthOf(text) {
    ruler ??= document.createElement('canvas').getContext('2d');
    ruler.font = '600 12px system-ui, sans-serif';
    if (widths.size > MAX_WIDTHS) widths.clear();
    if (!widths.has(text)) widths.set(text, ruler.measureText(text).width);
    return widths.get(text);
}
