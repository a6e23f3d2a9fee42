// What each colour mode needs: a source for the shader, a channel, a palette and a range.
import { Source } from './point_material.js';

const CLASSIFICATION = 'classification';

// The modes that a data set offers, best known first: [{ name, label, kind, channel }].
export function colourModes(meta) {
    const modes = [];
    if (meta.layout.rgb) modes.push({ name: 'rgb', label: 'RGB', kind: 'rgb', channel: null });
    modes.push({ name: 'height', label: 'Height', kind: 'ramp', channel: null });
    const rank = (channel) => ['intensity', CLASSIFICATION].indexOf(channel.key.toLowerCase());
    const known = meta.channels.filter((c) => rank(c) >= 0).sort((a, b) => rank(a) - rank(b));
    const others = meta.channels.filter((c) => rank(c) < 0);
    for (const channel of known) modes.push(channelMode(channel));
    modes.push({ name: 'level', label: 'Level of detail', kind: 'level', channel: null });
    for (const channel of others) modes.push(channelMode(channel));
    return modes;
}

function channelMode(channel) {
    const isClass = channel.key.toLowerCase() === CLASSIFICATION && channel.type === 'uint8';
    const label = channel.key.charAt(0).toUpperCase() + channel.key.slice(1);
    return { name: channel.key.toLowerCase(), label, kind: isClass ? 'classes' : 'ramp', channel };
}

// RGB where there are colours; else intensity where it says something; else height.
export function defaultMode(meta, modes) {
    const intensity = meta.channels.find((c) => c.key.toLowerCase() === 'intensity');
    const speaks = intensity?.range && intensity.range[1] > intensity.range[0];
    const name = meta.layout.rgb && hasColour(meta.layout.rgb) ? 'rgb' : speaks && flat(meta) ? 'intensity' : 'height';
    return modes.find((mode) => mode.name === name) ?? modes[0];
}

const flat = ({ box }) => !(box.max[2] > box.min[2]);
const hasColour = (rgb) => rgb.max.length === 0 || rgb.max.some((value) => value > 0);

export function sourceOf(mode) {
    if (mode.kind === 'rgb') return Source.RGB;
    if (mode.kind === 'level') return Source.LEVEL;
    return mode.channel ? Source.SCALAR : Source.HEIGHT;
}

// [scale, shift] from the shader's value (relative to the channel's base or to the data set's corner) to 0..1.
export function paletteMap(mode, range, base) {
    if (mode.kind === 'level' || mode.kind === 'classes') return [1 / 256, 0.5 / 256];
    const span = range[1] - range[0];
    if (!(span > 0)) return [0, 0.5];
    return [1 / span, (base - range[0]) / span];
}

// The range from the `low` to the `high` quantile of the values (a number per point, relative to base).
export function quantileRange(values, base, low = 0.01, high = 0.99) {
    const step = Math.max(1, Math.floor(values.length / 20000));
    const sample = [];
    for (let i = 0; i < values.length; i += step) sample.push(values[i]);
    if (sample.length === 0) return null;
    sample.sort((a, b) => a - b);
    const at = (q) => sample[Math.min(sample.length - 1, Math.floor(q * sample.length))] + base;
    return at(high) > at(low) ? [at(low), at(high)] : null;
}
