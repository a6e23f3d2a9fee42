// Which nodes a view wants, and which of them to draw now. Pure functions of the tree and the view.
//
// view    { position: [x, y, z], planes: [[nx, ny, nz, d], ...] (inside where n.p + d >= 0), pixelsPerRadian, or where rays
//         are parallel pixelsPerUnit }
//         in the coordinates of the nodes (relative to the data set's corner)
// options { budget: points, of all trees together, maxError: pixels }; of a tree its scheme
import { MaxHeap } from './heap.js';
import { State } from '../data/hierarchy.js';

export function intersectsBox(planes, min, size) {
    for (const [nx, ny, nz, d] of planes) {
        // The corner that lies furthest along the plane's normal decides.
        const x = nx >= 0 ? min[0] + size[0] : min[0];
        const y = ny >= 0 ? min[1] + size[1] : min[1];
        const z = nz >= 0 ? min[2] + size[2] : min[2];
        if (nx * x + ny * y + nz * z + d < 0) return false;
    }
    return true;
}

export function distanceToBox(p, min, size) {
    let sum = 0;
    for (let axis = 0; axis < 3; axis++) {
        const outside = Math.max(min[axis] - p[axis], 0, p[axis] - min[axis] - size[axis]);
        sum += outside * outside;
    }
    return Math.sqrt(sum);
}

// How many pixels lie between two samples of this node where it is nearest to the eye.
export function screenError(node, view) {
    if (view.pixelsPerUnit) return node.spacing * view.pixelsPerUnit;
    const distance = distanceToBox(view.position, node.min, node.size);
    return (node.spacing * view.pixelsPerRadian) / Math.max(distance, node.spacing);
}

// Largest error first; among equals (the eye inside several boxes) the one whose centre is nearer.
function priority(node, view) {
    const centre = node.min.map((m, axis) => m + node.size[axis] / 2);
    const distance = Math.hypot(...centre.map((c, axis) => c - view.position[axis]));
    return screenError(node, view) * (1 + node.spacing / (node.spacing + distance));
}

const visible = (node, view) => intersectsBox(view.planes, node.min, node.size);
const hasNoPoints = (node) => node.numPoints === 0 && !node.proxy;
const isDrawable = (node) => node.state === State.READY || hasNoPoints(node);

function visibleChildren(node, view) {
    return node.children ? node.children.filter((child) => child && visible(child, view)) : [];
}

function emptySelection() {
    return { draw: [], keep: [], wanted: [], chunks: [], points: 0, budgetReached: false };
}

function take(node, isReplacing, out) {
    out.keep.push(node);
    if (node.proxy) out.chunks.push(node);
    else if (isReplacing) return; // finishReplacing() decides what is drawn
    else if (isDrawable(node)) out.draw.push(node);
    else if (node.state !== State.FAILED) out.wanted.push(node);
}

// One budget for all trees: what has the largest error in the picture comes first, whosever it is.
//
// Additive: each level adds points, so everything chosen is drawn as soon as it is there.
// Replacing: the finest cut through the tree that the error asks for and the budget allows, as a Map of refined node to
// its children.
function plan(trees, view, { budget, maxError }) {
    const heap = new MaxHeap();
    const plans = trees.map(({ root, scheme }) => ({ root, isReplacing: scheme === 'replacing', cut: new Map(), out: emptySelection() }));
    let planned = 0;
    for (const own of plans) {
        if (!own.root || !visible(own.root, view)) continue;
        heap.push(Infinity, { own, node: own.root });
        planned += own.root.numPoints; // it is always there
    }
    while (heap.size > 0) {
        const { own, node } = heap.pop();
        const { root, isReplacing, cut, out } = own;
        const takes = (points) => {
            const fits = planned + points <= budget;
            if (fits) planned += points;
            else out.budgetReached = true;
            return fits;
        };
        if (!isReplacing && node !== root && (out.budgetReached || !takes(node.numPoints))) continue;
        take(node, isReplacing, out);
        if (screenError(node, view) <= maxError) continue;
        const children = visibleChildren(node, view);
        if (isReplacing && children.length > 0) {
            if (!takes(children.reduce((sum, child) => sum + child.numPoints, 0) - node.numPoints)) continue;
            cut.set(node, children);
        }
        for (const child of children) heap.push(priority(child, view), { own, node: child });
    }
    return plans;
}

// Replacing: a node gives way only when everything that replaces it is there. Returns the nodes that draw this
// part of space, and whether they cover it.
function resolve(node, cut) {
    const children = cut.get(node);
    const own = { draw: [node], complete: true };
    if (!children) return isDrawable(node) ? own : { draw: [], complete: false };
    const parts = children.map((child) => resolve(child, cut));
    if (parts.every((part) => part.complete)) return { draw: parts.flatMap((part) => part.draw), complete: true };
    if (isDrawable(node) && !hasNoPoints(node)) return own;
    return { draw: parts.flatMap((part) => part.draw), complete: false };
}

// Inner nodes are wanted only while what is finer is incomplete: they bring a first picture, top down.
function collectWanted(node, cut, out) {
    const children = cut.get(node);
    let complete = isDrawable(node);
    if (children) {
        const states = children.map((child) => collectWanted(child, cut, out));
        if (states.every(Boolean)) return true;
        complete = false;
    }
    if (!isDrawable(node) && !node.proxy && node.state !== State.FAILED) out.push(node);
    return complete;
}

function finishReplacing(root, cut, out) {
    out.draw = resolve(root, cut).draw;
    const wanted = [];
    collectWanted(root, cut, wanted);
    const order = new Map(out.keep.map((node, i) => [node, i])); // they were met by falling error
    out.wanted = wanted.sort((a, b) => order.get(a) - order.get(b));
}

// trees: [{ root: or null, scheme }]. Returns of each { draw, keep (not to be dropped from memory), wanted (to load, best
// first), chunks (of the hierarchy to load), points (drawn), budgetReached }.
export function selectTogether(trees, view, options) {
    return plan(trees, view, options).map(({ root, isReplacing, cut, out }) => {
        if (isReplacing && out.keep.length > 0) finishReplacing(root, cut, out);
        out.draw = out.draw.filter((node) => node.numPoints > 0 && node.state === State.READY);
        out.points = out.draw.reduce((sum, node) => sum + node.numPoints, 0);
        return out;
    });
}
