// Which points are shown, independent of the colours: hidden ones are neither drawn nor picked, measured nor counted.
//
//   node.mask   { version, flags: [points] 1 where hidden, shown: how many are not }
//
// Made for a node when it is first asked for, and anew when the filter has changed since. The shader gets the same flags.
import { hasValue } from '../data/decode.js';
import { hideByBoxes } from './clip_box.js';
import { upAxis } from './up_axis.js';
import { table } from '../data/table.js';

const RETURN_TESTS = table({
    first: (number) => number === 1,
    last: (number, count) => number >= count,
    only: (_, count) => count === 1,
    between: (number, count) => number > 1 && number < count,
});
export const RETURNS = Object.keys(RETURN_TESTS);

export class PointFilter {
    // channel: the classification, or null where the data set has none. histogram: points of each class, where the
    // metadata says so. returns: { number, count }: channels, or null.
    constructor(channel, histogram = [], returns = null) {
        this.channel = channel;
        this.hidden = new Set();
        this.counts = histogram.length > 0 ? histogram : null;
        this.codes = new Set(histogram.flatMap((points, code) => (points > 0 ? [code] : []))); // that occur, as far as is known
        this.returnChannels = returns;
        this.returns = null; // one of RETURNS
        this.ranges = new Map(); // name of a colour mode -> { channel (null: height), range: [low, high] }
        this.boxes = []; // of ClipBox
        this.space = null; // { origin, stretch, scale, up }: how heights are those of the file
        this.version = 0;
    }

    // Has to be called after each change.
    changed() {
        this.version++;
    }

    get isActive() {
        return (this.channel !== null && this.hidden.size > 0) || this.ranges.size > 0 || this.boxes.length > 0 || this.returns !== null;
    }

    // codes: of classes.
    hide(codes) {
        this.hidden = new Set(codes);
        this.changed();
    }

    // Hides what another one hides, of a data set with the same attributes. channels: by names of colour modes.
    hideAs(other, channels) {
        if (this.channel) this.hidden = new Set(other.hidden);
        for (const code of other.codes) this.codes.add(code);
        for (const [name, { channel, range }] of other.ranges) {
            if (!channel || channels.has(name)) this.ranges.set(name, { channel: channel && channels.get(name), range });
        }
        this.returns = this.returnChannels ? other.returns : null;
        this.boxes = other.boxes;
        this.space = other.space;
        this.version = other.version + 1;
    }

    // How many filters besides that of classes.
    get count() {
        return this.ranges.size + (this.returns ? 1 : 0);
    }

    // The channels that the filter needs of each node.
    get channels() {
        const list = [...this.ranges.values()].map(({ channel }) => channel).filter(Boolean);
        if (this.hidden.size > 0 && this.channel) list.push(this.channel);
        if (this.returns) list.push(this.returnChannels.number, this.returnChannels.count);
        return list;
    }

    // Returns whether classes were met that were not known before.
    learn(node) {
        const values = (this.channel && node.payload?.scalars.get(this.channel.key)?.values) ?? null;
        if (!values) return false;
        const before = this.codes.size;
        for (const stored of values) this.codes.add(stored + this.channel.base);
        return this.codes.size !== before;
    }

    // The flags of a node, or null where all its points are shown.
    maskOf(node) {
        if (!this.isActive || !node.payload) return null;
        if (node.mask?.version !== this.version) node.mask = this.makeMask(node);
        return node.mask;
    }

    makeMask(node) {
        const flags = new Uint8Array(node.payload.position.length / 3);
        const { scalars } = node.payload;
        // What a filter needs to know of a point is not there yet: not to be shown until it is.
        const isKnown = this.channels.every((channel) => scalars.has(channel.key));
        if (!isKnown) return { version: -1, flags: flags.fill(1), shown: 0 };
        if (this.hidden.size > 0 && this.channel) hideClasses(flags, scalars.get(this.channel.key).values, this.channel.base, this.hidden);
        for (const { channel, range } of this.ranges.values()) {
            if (channel) hideOutside(flags, scalars.get(channel.key).values, channel, range);
            else this.hideHeights(flags, node, range);
        }
        if (this.returns) this.hideReturns(flags, scalars);
        if (this.boxes.length > 0) hideByBoxes(flags, node, this.boxes);
        let shown = 0;
        for (const flag of flags) shown += 1 - flag;
        return { version: this.version, flags, shown };
    }

    hideHeights(flags, node, [low, high]) {
        const { origin, stretch, scale, up } = this.space;
        const { axis, sign } = upAxis(up);
        const half = scale[axis] / 2; // heights are whole steps: floats may be a little off them
        const drawn = (height) => (sign * height - origin[axis]) * stretch[axis] - node.min[axis];
        const [a, b] = [drawn(low - half), drawn(high + half)].sort((x, y) => x - y);
        const { position } = node.payload;
        for (let i = 0; i < flags.length; i++) if (!(position[3 * i + axis] >= a && position[3 * i + axis] <= b)) flags[i] = 1;
    }

    hideReturns(flags, scalars) {
        const [number, count] = [this.returnChannels.number, this.returnChannels.count].map((c) => scalars.get(c.key).values);
        const isShown = RETURN_TESTS[this.returns];
        for (let i = 0; i < flags.length; i++) if (!isShown(number[i], count[i])) flags[i] = 1;
    }

    // A function of a point's index that says whether it is hidden, or null where all points of the node are shown.
    hiddenIn(node) {
        const mask = this.maskOf(node);
        if (!mask || mask.shown === mask.flags.length) return null;
        return (i) => mask.flags[i] === 1;
    }

    countVisible(node) {
        return this.maskOf(node)?.shown ?? node.numPoints;
    }
}

function hideClasses(flags, values, base, hidden) {
    const isHidden = new Uint8Array(256);
    for (const code of hidden) isHidden[code] = 1;
    for (let i = 0; i < flags.length; i++) if (isHidden[values[i] + base]) flags[i] = 1;
}

// Stored numbers are compared, as exact as they are held; what is not a number lies in no range.
function hideOutside(flags, values, { base, scale, shift }, range) {
    const stored = range.map((v) => (v - shift) / scale - base).sort((a, b) => a - b);
    const [low, high] = values instanceof Float32Array ? stored.map(Math.fround) : stored.map((v) => Number(v.toPrecision(14)));
    for (let i = 0; i < flags.length; i++) if (!(values[i] >= low && values[i] <= high && hasValue(values[i]))) flags[i] = 1;
}
