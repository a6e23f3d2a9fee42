// What was measured and noted, and the clip boxes: a list that can be undone. Pure but for events. A mark is never changed in
// place: a change makes a new one, so that lists which are remembered share those that stay, however many they are.
//
//   mark  { id, kind, points: [[x, y, z], …] in coordinates of the data set, text, width (of a profile), base (of a volume: 'plane'
//           or 'lowest'), holes (of an area or volume: [[[x, y, z], …], …]), more: properties of another program's file,
//           flat: [i, …], the positions without a height of their own, counted through points and holes: what they have is for the
//           picture, and nothing is measured of it }
//   plane { id, kind: 'plane', points: its boundary, text, number, normal, offset, rms, inliers }: found by `mote planes`
//   box   { id, kind: 'clip', center: in coordinates of the data set, size: drawn, yaw: radians, inside: show it or hide it }
import { numberOf, table, textOf } from '../data/table.js';

export const KINDS = table({
    point: { min: 1, max: 1 },
    distance: { min: 2, max: Infinity },
    height: { min: 2, max: 2 },
    angle: { min: 3, max: 3 },
    circle: { min: 3, max: 3 },
    over: { min: 4, max: 4 }, // three points of a plane, and the one whose height over it is measured
    area: { min: 3, max: Infinity },
    volume: { min: 3, max: Infinity },
    profile: { min: 2, max: Infinity },
    note: { min: 1, max: 1 },
    plane: { min: 3, max: Infinity },
});
export const MAX_MARKS = 20000;
export const MAX_POINTS = 20000;
const MAX_HOLES = 1000;
const MAX_MORE = 4000; // characters of the properties of another program
const MAX_TEXT = 2000;
const MAX_UNDO = 200;
const MAX_COORDINATE = 1e15; // beyond it neighbours are farther apart than a tenth of a unit; products of such stay finite

const isPlace = (v) => Number.isFinite(v) && Math.abs(v) <= MAX_COORDINATE;
const isPoint = (p) => Array.isArray(p) && p.length >= 3 && p.slice(0, 3).every(isPlace);
const kindOf = (word) => (typeof word === 'string' ? KINDS[word] : undefined);

export class Marks extends EventTarget {
    constructor() {
        super();
        this.list = [];
        this.past = []; // earlier lists
        this.future = [];
        this.nextId = 1;
    }

    get boxes() {
        return this.list.filter(({ kind }) => kind === 'clip');
    }

    changed() {
        this.dispatchEvent(new CustomEvent('change'));
    }

    // Remembers the present list, to come back to it; call it before a change.
    remember() {
        this.past.push(this.list);
        if (this.past.length > MAX_UNDO) this.past.shift();
        this.future = [];
    }

    // A mark with an id of its own, or null where it is none.
    add(mark) {
        const clean = cleaned(mark);
        if (!clean || this.list.length >= MAX_MARKS) return null;
        clean.id = this.nextId++;
        this.remember();
        this.list = [...this.list, clean];
        this.changed();
        return clean;
    }

    remove(id) {
        this.remember();
        this.list = this.list.filter((mark) => mark.id !== id);
        this.changed();
    }

    // change(mark) alters a copy of it, which takes its place; remember: false while a handle is dragged.
    alter(id, change, remember = true) {
        const before = this.list.find((m) => m.id === id);
        if (!before) return;
        if (remember) this.remember();
        const mark = structuredClone(before);
        change(mark);
        this.list = this.list.map((m) => (m.id === id ? mark : m));
        this.changed();
    }

    replace(list) {
        this.remember();
        this.list = list.map(cleaned).filter(Boolean).slice(0, MAX_MARKS).map((mark) => ({ ...mark, id: this.nextId++ }));
        this.changed();
    }

    // Takes in marks of others. keyOf(mark): the same text for marks that are the same. Returns how many are new, were there
    // already, and found no place.
    merge(list, keyOf) {
        const known = new Set(this.list.map(keyOf));
        const fresh = [];
        for (const mark of list.map(cleaned).filter(Boolean)) {
            const key = keyOf(mark);
            if (!known.has(key)) fresh.push(mark);
            known.add(key);
        }
        const added = fresh.slice(0, MAX_MARKS - this.list.length).map((mark) => ({ ...mark, id: this.nextId++ }));
        if (added.length > 0) {
            this.remember();
            this.list = [...this.list, ...added];
            this.changed();
        }
        return { added: added.length, same: list.length - fresh.length, full: fresh.length - added.length };
    }

    undo() {
        this.step(this.past, this.future);
    }

    redo() {
        this.step(this.future, this.past);
    }

    step(from, to) {
        if (from.length === 0) return;
        to.push(this.list);
        this.list = from.pop();
        this.changed();
    }
}

// Plain properties that another program's file gave a feature: they are kept, and written again.
function cleanedMore(more) {
    if (more === null || typeof more !== 'object') return null;
    const plain = Object.entries(more).filter(([, v]) => v === null || ['string', 'number', 'boolean'].includes(typeof v));
    return plain.length > 0 && JSON.stringify(plain).length <= MAX_MORE ? plain : null;
}

// Positions that have no height of their own, in order; null where all have one.
function cleanedFlat(flat, count) {
    if (!Array.isArray(flat)) return null;
    const own = [...new Set(flat)].filter((i) => Number.isInteger(i) && i >= 0 && i < count).sort((a, b) => a - b);
    return own.length > 0 ? own : null;
}

// Points and holes as they are measured and written: a height that is not a position's own is null.
export function ringsOf({ points, holes = [], flat }) {
    if (!flat) return [points, ...holes];
    const isFlat = new Set(flat);
    let i = 0;
    return [points, ...holes].map((ring) => ring.map((p) => (isFlat.has(i++) ? [p[0], p[1], null] : p)));
}

const isRing = (ring) => Array.isArray(ring) && ring.length >= 3 && ring.length <= MAX_POINTS && ring.every(isPoint);

// Pairs, not an object: a property may be called "__proto__".
const fromPairs = (pairs) => table(Object.fromEntries(pairs.filter((p) => Array.isArray(p) && typeof p[0] === 'string').map(([k, v]) => [k, v])));

// A text that is the same for marks which are, to the steps in which coordinates count: [sx, sy, sz].
export function markKey(mark, scale) {
    const steps = (points) => points?.map((p) => p.map((c, i) => c !== null && Math.round(c / scale[i % 3])));
    const { kind, center, size, yaw, inside, text, width, base } = mark;
    return JSON.stringify([kind, (mark.points ? ringsOf(mark) : [[center]]).map(steps), size, yaw, inside, text, width, base]);
}

// A mark with only what belongs to one, checked; null where it cannot be. What is read may have been written by anyone.
export function cleaned(mark) {
    if (mark === null || typeof mark !== 'object') return null;
    const text = textOf(mark.text).slice(0, MAX_TEXT);
    if (mark.kind === 'clip') {
        const { center, size, yaw, inside } = mark;
        if (!isPoint(center) || !isPoint(size) || !size.slice(0, 3).every((s) => s > 0)) return null;
        return { kind: 'clip', center: center.slice(0, 3), size: size.slice(0, 3), yaw: isPlace(yaw) ? yaw : 0, inside: inside !== false, text };
    }
    const kind = kindOf(mark.kind);
    const points = mark.points;
    if (!kind || !Array.isArray(points) || points.length < kind.min || points.length > Math.min(kind.max, MAX_POINTS) || !points.every(isPoint)) return null;
    const out = { kind: mark.kind, points: points.map((p) => p.slice(0, 3)), text };
    if (mark.kind === 'plane') {
        if (!isPoint(mark.normal) || !isPlace(mark.offset)) return null;
        const { normal, offset, number, rms, inliers } = mark;
        Object.assign(out, { normal: normal.slice(0, 3), offset, number: numberOf(number) || 0, rms: numberOf(rms) || 0, inliers: numberOf(inliers) || 0 });
    }
    if (mark.kind === 'volume' && mark.base === 'lowest') out.base = 'lowest';
    if (mark.kind === 'profile') out.width = isPlace(mark.width) && mark.width > 0 ? mark.width : 1;
    if (/^(area|volume)$/.test(mark.kind) && Array.isArray(mark.holes) && mark.holes.length > 0 && mark.holes.length <= MAX_HOLES && mark.holes.every(isRing))
        out.holes = mark.holes.map((ring) => ring.map((p) => p.slice(0, 3)));
    const flat = mark.kind === 'plane' ? null : cleanedFlat(mark.flat, [out.points, ...(out.holes ?? [])].reduce((sum, ring) => sum + ring.length, 0));
    if (flat) out.flat = flat;
    const more = cleanedMore(Array.isArray(mark.more) ? fromPairs(mark.more) : mark.more);
    if (more) out.more = more;
    return out;
}

// Points that a tool was given, not yet a mark: { kind, points }; null where they cannot be.
export function cleanedDraft(draft) {
    const { kind, points } = draft ?? {};
    const isDraft = kindOf(kind) && Array.isArray(points) && points.length > 0 && points.length < Math.min(KINDS[kind].max, MAX_POINTS) && points.every(isPoint);
    return isDraft ? { kind, points: points.map((p) => p.slice(0, 3)) } : null;
}

// 'distance;1,2,3;4,5,6;~text', 'volume;lowest;1,2,3;…', and back (null where it is none). write(point): its numbers as texts. flat
// stands before the points: 'area;f0,2;…', 'area;f;…' where none has a height of its own.
export function markText(mark, write) {
    const text = mark.text ? [`~${mark.text}`] : [];
    if (mark.kind === 'clip')
        return ['clip', mark.center.join(), mark.size.join(), String(mark.yaw), mark.inside ? 'in' : 'out', ...text].join(';');
    const before = [mark.kind === 'profile' && `w${mark.width}`, mark.base, mark.flat && `f${mark.flat.length === mark.points.length ? '' : mark.flat.join()}`].filter(Boolean);
    return [mark.kind, ...before, ...mark.points.map((p) => write(p).join()), ...text].join(';');
}

export function readMark(written) {
    const [body, ...rest] = String(written).split(';~');
    const [kind, ...parts] = body.split(';');
    const numbers = (part) => String(part).split(',').map(Number);
    const text = rest.join(';~');
    if (kind === 'clip') return cleaned({ kind, center: numbers(parts[0]), size: numbers(parts[1]), yaw: Number(parts[2]), inside: parts[3] !== 'out', text });
    const points = parts.filter((part) => !/^[wlf]/.test(part)).map(numbers);
    const flats = parts.find((part) => part.startsWith('f'))?.slice(1);
    const flat = flats === '' ? points.map((_, i) => i) : flats?.split(',').map(Number);
    const width = kind === 'profile' ? Number(/^w(.+)$/.exec(parts[0] ?? '')?.[1]) : undefined;
    return cleaned({ kind, points, width, base: parts[0], flat, text });
}
