// Where labels stand beside what they name, so that they cover neither each other nor the corners of marks. Pure.

const HEIGHT = 15;
const GAP = 3;
// Where the middle of a label lies from its anchor, in halves of its size and in gaps: right above first, then around, then farther.
const SIDES = [[1, -1], [1, 1], [-1, -1], [-1, 1], [0, -1], [0, 1], [1, 0], [-1, 0]];
const RINGS = [8, 26];
const CELL = 64; // pixels

const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// Boxes [left, top, right, bottom], found by the cells that they lie in.
class Boxes {
    constructor(boxes) {
        this.cells = new Map();
        for (const box of boxes) this.add(box);
    }

    lists(box, make) {
        const found = [];
        for (let x = Math.floor(box[0] / CELL); x <= Math.floor(box[2] / CELL); x++) {
            for (let y = Math.floor(box[1] / CELL); y <= Math.floor(box[3] / CELL); y++) {
                const key = x * 65536 + y;
                if (make && !this.cells.has(key)) this.cells.set(key, []);
                if (this.cells.has(key)) found.push(this.cells.get(key));
            }
        }
        return found;
    }

    add(box) {
        for (const list of this.lists(box, true)) list.push(box);
    }

    meets(box) {
        return this.lists(box, false).some((list) => list.some((other) => meet(box, other)));
    }
}

// labels: [{ at: [x, y], width: of its text }], the most important first; taken: boxes that are kept free; inside: the box that they
// stay in. Returns for each where its text begins (on the base line), or null where it finds no room.
export function placeLabels(labels, taken, inside) {
    const boxes = new Boxes(taken);
    return labels.map(({ at, width }) => {
        for (const ring of RINGS) {
            for (const [sx, sy] of SIDES) {
                const x = at[0] + sx * (ring + width / 2);
                const y = at[1] + sy * (ring + HEIGHT / 2) * (sx === 0 ? 1 : 0.6);
                const box = [x - width / 2 - GAP, y - HEIGHT / 2, x + width / 2 + GAP, y + HEIGHT / 2];
                if (box[0] < inside[0] || box[1] < inside[1] || box[2] > inside[2] || box[3] > inside[3]) continue;
                if (boxes.meets(box)) continue;
                boxes.add(box);
                return [x - width / 2, y + HEIGHT / 2 - 4];
            }
        }
        return null;
    });
}
