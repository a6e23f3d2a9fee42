// A box, turned about the upward axis, that shows only the points within it or hides them. In drawn coordinates. Pure.
export class ClipBox {
    // up: the axis that points up; center, size: [3]; yaw: radians
    constructor({ center, size, yaw, inside }, up) {
        Object.assign(this, { center, half: size.map((s) => s / 2), yaw, inside, up });
        [this.a, this.b] = [0, 1, 2].filter((i) => i !== up);
        [this.cos, this.sin] = [Math.cos(yaw), Math.sin(yaw)];
    }

    // The unit vectors of its three axes.
    axes() {
        const { a, b, up, cos, sin } = this;
        const axes = [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
        [axes[a][a], axes[a][b]] = [cos, sin];
        [axes[b][a], axes[b][b]] = [-sin, cos];
        axes[up][up] = 1;
        return axes;
    }

    // The six planes around it, [nx, ny, nz, d], inside where n.p + d >= 0.
    planes() {
        return this.axes().flatMap((n, i) => {
            const at = n[0] * this.center[0] + n[1] * this.center[1] + n[2] * this.center[2];
            return [[...n, this.half[i] - at], [...n.map((c) => -c), this.half[i] + at]];
        });
    }

    corners() {
        const axes = this.axes();
        return [...Array(8).keys()].map((k) =>
            this.center.map((c, i) => axes.reduce((sum, n, axis) => sum + n[i] * this.half[axis] * ((k >> axis) & 1 ? 1 : -1), c)));
    }

    // Calls visit(index) for each point of the node that lies in the box.
    visitInside(node, visit) {
        const { a, b, up, cos, sin, half } = this;
        const { position } = node.payload;
        const [ca, cb, cu] = [a, b, up].map((i) => this.center[i] - node.min[i]);
        for (let i = 0; i < position.length; i += 3) {
            const [x, y] = [position[i + a] - ca, position[i + b] - cb];
            if (Math.abs(position[i + up] - cu) <= half[up] && Math.abs(x * cos + y * sin) <= half[a] && Math.abs(y * cos - x * sin) <= half[b]) visit(i / 3);
        }
    }
}

// Sets the flags of the points that the boxes hide: those in no box that shows what is within, and those in one that hides it.
export function hideByBoxes(flags, node, boxes) {
    const showing = boxes.filter(({ inside }) => inside);
    if (showing.length > 0) {
        const seen = new Uint8Array(flags.length);
        for (const box of showing) box.visitInside(node, (i) => (seen[i] = 1));
        for (let i = 0; i < flags.length; i++) if (!seen[i]) flags[i] = 1;
    }
    for (const box of boxes) if (!box.inside) box.visitInside(node, (i) => (flags[i] = 1));
}
