// Which axis of the data points up. Scans have z up; models often have y up, cameras y down.

// Of each: the data's directions that the camera takes for right, forward (north, from the front) and up.
const FRAMES = {
    z: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    y: [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
    '-y': [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    x: [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
    '-x': [[0, 1, 0], [0, 0, -1], [-1, 0, 0]],
    '-z': [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
};
export const UP_AXES = Object.keys(FRAMES);

export const frameOf = (up) => FRAMES[up] ?? FRAMES.z;

// { axis: 0, 1 or 2, sign: 1 or -1 } of the direction that is up.
export function upAxis(up) {
    const direction = frameOf(up)[2];
    const axis = direction.findIndex((c) => c !== 0);
    return { axis, sign: direction[axis] };
}

// The range of heights of a box.
export function heightRange(box, up) {
    const { axis, sign } = upAxis(up);
    return sign > 0 ? [box.min[axis], box.max[axis]] : [-box.max[axis], -box.min[axis]];
}

export const upName = (up) => up.toUpperCase().replace('-', '−');
