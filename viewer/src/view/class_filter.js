// Which classes are shown. Independent of the colours: hidden points are neither drawn nor picked nor counted.

export class ClassFilter {
    // channel: the classification, or null where the data set has none. histogram: points of each class, where the
    // metadata says so.
    constructor(channel, histogram = []) {
        this.channel = channel;
        this.hidden = new Set();
        this.counts = histogram.length > 0 ? histogram : null;
        this.codes = new Set(histogram.flatMap((points, code) => (points > 0 ? [code] : []))); // that occur, as far as is known
    }

    get isActive() {
        return this.channel !== null && this.hidden.size > 0;
    }

    // The stored classes of a node, or null where they are not there (yet).
    valuesOf(node) {
        return (this.channel && node.payload?.scalars.get(this.channel.key)?.values) ?? null;
    }

    // Returns whether classes were met that were not known before.
    learn(node) {
        const values = this.valuesOf(node);
        if (!values) return false;
        const before = this.codes.size;
        for (const stored of values) this.codes.add(stored + this.channel.base);
        return this.codes.size !== before;
    }

    // A function of a point's index that says whether it is hidden, or null where all points of the node are shown.
    hiddenIn(node) {
        const values = this.isActive ? this.valuesOf(node) : null;
        if (!values) return null;
        const flags = new Uint8Array(256);
        for (const code of this.hidden) flags[code] = 1;
        const { base } = this.channel;
        return (i) => flags[values[i] + base] === 1;
    }

    countVisible(node) {
        const values = this.isActive ? this.valuesOf(node) : null;
        if (!values) return node.numPoints;
        node.classCounts ??= countClasses(values, this.channel.base);
        let count = node.numPoints;
        for (const code of this.hidden) count -= node.classCounts[code];
        return count;
    }

    // 256 RGBA texels for the shader: red where the class is hidden.
    texels() {
        const data = new Uint8Array(256 * 4);
        for (const code of this.hidden) data[4 * code] = 255;
        return data;
    }
}

function countClasses(values, base) {
    const counts = new Uint32Array(256);
    for (const stored of values) counts[stored + base]++;
    return counts;
}
