// A way through views: the camera between them, slower where it leaves one and where it comes to the next. Pure.

const ease = (t) => t * t * (3 - 2 * t);

// The short way round.
function turned(from, to, t) {
    const full = 2 * Math.PI;
    const way = ((((to - from) % full) + full + Math.PI) % full) - Math.PI;
    return from + way * t;
}

// a, b: { target, yaw, pitch, distance }; t: 0 to 1. Distances change by equal factors, as zooming does.
export function between(a, b, t) {
    const s = ease(t);
    return {
        target: a.target.map((c, i) => c + (b.target[i] - c) * s),
        yaw: turned(a.yaw, b.yaw, s),
        pitch: a.pitch + (b.pitch - a.pitch) * s,
        distance: a.distance * (b.distance / a.distance) ** s,
    };
}

// The cameras of all frames: `steps` from each view to the next, and the last view.
export function frames(cameras, steps) {
    const out = cameras.slice(1).flatMap((to, i) => Array.from({ length: steps }, (_, k) => between(cameras[i], to, k / steps)));
    return [...out, cameras.at(-1)];
}
