// What each colour mode needs: a source for the shader, a channel, a palette and a range.
import { Source } from './point_material.js';
import { hasValue } from '../data/decode.js';
import { valueOfStored } from '../data/attributes.js';
import { t } from '../texts/texts.js';

const CLASSIFICATION = 'classification';

// The modes that a data set offers, best known first: [{ name, label, kind, channel }]. RGB is one of them only where
// some point has a colour that is not black.
export function colourModes(meta) {
    const modes = [];
    if (meta.layout.rgb && hasColour(meta.layout.rgb)) modes.push({ name: 'rgb', label: 'RGB', kind: 'rgb', channel: null });
    modes.push({ name: 'height', label: t('mode.height'), kind: 'ramp', channel: null });
    const rank = (channel) => ['intensity', CLASSIFICATION].indexOf(channel.key.toLowerCase());
    const known = meta.channels.filter((c) => rank(c) >= 0).sort((a, b) => rank(a) - rank(b));
    const others = meta.channels.filter((c) => rank(c) < 0);
    for (const channel of known) modes.push(channelMode(channel));
    modes.push({ name: 'level', label: t('mode.level'), kind: 'level', channel: null });
    const normal = normalChannels(meta.channels);
    if (normal) modes.push({ name: 'normal', label: t('mode.normal'), kind: 'normal', channel: null, channels: normal });
    for (const channel of others) modes.push(channelMode(channel));
    return withUniqueNames(modes);
}

// The three channels of a normal: NormalX, nx, "normal [0]" and the like; null where there is none.
function normalChannels(channels) {
    const of = (names) => channels.find(({ key }) => new RegExp(`^n(ormal)?s?[ _-]?${names}$`, 'i').test(key));
    const three = ['(x|\\[0\\])', '(y|\\[1\\])', '(z|\\[2\\])'].map(of);
    return three.every((c) => c && c.scale === 1 && c.shift === 0) ? three : null;
}

export const channelsOf = (mode) => mode?.channels ?? (mode?.channel ? [mode.channel] : []);

// An attribute may be called like a mode or like another attribute: "height" of a table, "Intensity" in extra bytes.
function withUniqueNames(modes) {
    const taken = new Set();
    for (const mode of modes) {
        const { name, label } = mode;
        for (let n = 2; taken.has(mode.name); n++) Object.assign(mode, { name: `${name} ${n}`, label: `${label} (${n})` });
        taken.add(mode.name);
    }
    return modes;
}

function channelMode(channel) {
    const kind = channel.isClass ? 'classes' : isLabel(channel) ? 'labels' : 'ramp';
    return { name: channel.key.toLowerCase(), label: channelLabel(channel), kind, channel };
}

// Numbers that name things, planes or flight lines, and do not measure: neighbours want different colours.
const LABEL = /^(plane|segment|cluster|label|instance|object|tree|region|point source)([ _-]?(id|index|number))?$/i;
const isLabel = ({ key, type, scale, shift }) => LABEL.test(key) && /^u?int/.test(type) && scale === 1 && shift === 0;

function channelLabel({ key, range, unit }) {
    const words = key.charAt(0).toUpperCase() + key.slice(1);
    const name = /^gps[-_ ]?time$/i.test(key) ? t('mode.time') : unit === '°' ? words.replace(/[_ ]rank$/i, '') : words;
    return range && range[0] === range[1] ? t('mode.always', { name, value: `${Number(range[0].toPrecision(7))}${unit}` }) : name;
}

// RGB where there are colours; else intensity where it says something and height does not; else height.
export function defaultMode(meta, modes) {
    const intensity = meta.channels.find((c) => c.key.toLowerCase() === 'intensity');
    const speaks = intensity?.range && intensity.range[1] > intensity.range[0];
    const name = meta.layout.rgb && hasColours(meta.layout.rgb) ? 'rgb' : speaks && flat(meta) ? 'intensity' : 'height';
    return modes.find((mode) => mode.name === name) ?? modes[0];
}

const flat = ({ box }) => !(box.max[2] > box.min[2]);
// Where the metadata is silent there may be colours.
const hasColour = (rgb) => rgb.max.length === 0 || rgb.max.slice(0, 3).some((value) => !(value <= 0));
// One colour for all points says nothing.
const hasColours = (rgb) => hasColour(rgb) && (rgb.min.length === 0 || rgb.max.slice(0, 3).some((value, i) => value !== rgb.min[i]));

// Whether every colour of a node is black.
export function isBlack({ rgb }) {
    for (let i = 0; i < rgb.length; i += 4) if (rgb[i] || rgb[i + 1] || rgb[i + 2]) return false;
    return true;
}

export function sourceOf(mode) {
    if (mode.kind === 'rgb') return Source.RGB;
    if (mode.kind === 'level') return Source.LEVEL;
    if (mode.kind === 'normal') return Source.NORMAL;
    return mode.channel ? Source.SCALAR : Source.HEIGHT;
}

// [scale, shift] from the shader's value to 0..1. values: { base, scale, shift }, how the shader's value becomes one of
// the range: (v + base) * scale + shift.
export function paletteMap(mode, range, { base, scale, shift }) {
    if (mode.kind === 'level') return [1 / 256, 0.5 / 256];
    if (mode.kind === 'classes' || mode.kind === 'labels') return [1 / 256, (base + 0.5) / 256];
    const span = range[1] - range[0];
    if (!(span > 0)) return [0, 0.5];
    return [scale / span, (base * scale + shift - range[0]) / span];
}

// The range from the `low` to the `high` quantile of numbers, or null where they are all the same.
export function quantileRange(values, low = 0.01, high = 0.99) {
    const step = Math.max(1, Math.floor(values.length / 20000));
    const sample = [];
    for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i])) sample.push(values[i]);
    if (sample.length === 0) return null;
    sample.sort((a, b) => a - b);
    const at = (q) => sample[Math.min(sample.length - 1, Math.floor(q * sample.length))];
    return at(high) > at(low) ? [at(low), at(high)] : null;
}

const TAILS = 1.1;

// Whether the full range is wider than that of nearly all values, by more than evenly spread values would make it.
export const hasTails = (full, usual) => full[1] - full[0] > TAILS * (usual[1] - usual[0]);

// The values of a channel in a node as people mean them, of points that have one and are not hidden.
export function channelValues(channel, stored, isHidden = null) {
    const values = [];
    for (let i = 0; i < stored.length; i++) if (hasValue(stored[i]) && !isHidden?.(i)) values.push(valueOfStored(channel, stored[i]));
    return values;
}
