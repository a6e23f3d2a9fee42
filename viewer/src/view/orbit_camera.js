// The camera as a person thinks of it: a target, a direction and a distance. Plain numbers.
import { frameOf } from './up_axis.js';

const MAX_PITCH = Math.PI / 2 - 1e-4; // straight down, but never over the top
const FOV_Y = (50 * Math.PI) / 180;

const add = (a, b, f = 1) => [a[0] + b[0] * f, a[1] + b[1] * f, a[2] + b[2] * f];

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

// How far back the eye must stand for points [aside, depth] to fit between two borders of slope `tan`.
function tightest(points, tan) {
    const high = Math.max(...points.map(([side, depth]) => side / tan - depth));
    const low = Math.max(...points.map(([side, depth]) => -side / tan - depth));
    return (high + low) / 2;
}

// How far aside the eye must stand, `back` away, for the points to leave equal margins on both sides.
function middle(points, back) {
    let [low, high] = [Math.min(...points.map(([side]) => side)), Math.max(...points.map(([side]) => side))];
    for (let i = 0; i < 40; i++) {
        const shift = (low + high) / 2;
        const seen = points.map(([side, depth]) => (side - shift) / Math.max(back + depth, 1e-9));
        if (Math.max(...seen) + Math.min(...seen) > 0) low = shift;
        else high = shift;
    }
    return (low + high) / 2;
}

export class OrbitCamera {
    constructor() {
        this.target = [0, 0, 0];
        this.yaw = -0.6; // around z; 0 looks north from the south
        this.pitch = 0.6; // how far the eye stands above the target's horizon
        this.distance = 10;
        this.frame = frameOf('z'); // the data's directions that are right, forward and up at yaw and pitch 0
        this.fovY = FOV_Y;
        this.isOrthographic = false; // parallel; the distance still says how much is seen
        this.aspect = 1;
        this.sceneSize = 10; // bounds distances
    }

    // Unit vectors of the view: right, up and forward.
    axes() {
        const [sy, cy, sp, cp] = [Math.sin(this.yaw), Math.cos(this.yaw), Math.sin(this.pitch), Math.cos(this.pitch)];
        const [x, y, z] = this.frame;
        const turned = (a, b, c) => x.map((_, i) => a * x[i] + b * y[i] + c * z[i]);
        return {
            right: turned(cy, sy, 0),
            up: turned(-sp * sy, sp * cy, cp),
            forward: turned(-cp * sy, cp * cy, -sp),
        };
    }

    position() {
        return add(this.target, this.axes().forward, -this.distance);
    }

    get() {
        return { target: [...this.target], yaw: this.yaw, pitch: this.pitch, distance: this.distance };
    }

    set({ target, yaw, pitch, distance }) {
        if (target?.every(Number.isFinite)) this.target = [...target];
        if (Number.isFinite(yaw)) this.yaw = yaw;
        if (Number.isFinite(pitch)) this.pitch = Math.max(-MAX_PITCH, Math.min(MAX_PITCH, pitch));
        if (distance > 0) this.distance = this.clampDistance(distance);
    }

    clampDistance(distance) {
        return Math.max(this.sceneSize * 1e-6, Math.min(this.sceneSize * 20, distance));
    }

    rotate(dYaw, dPitch) {
        this.set({ yaw: this.yaw + dYaw, pitch: this.pitch + dPitch });
    }

    // Turns eye and target about a point, which stays where it is on the screen.
    rotateAbout(point, dYaw, dPitch) {
        const before = this.axes();
        const away = this.target.map((t, i) => t - point[i]);
        const [x, y, z] = [dot(away, before.right), dot(away, before.up), dot(away, before.forward)];
        this.rotate(dYaw, dPitch);
        const { right, up, forward } = this.axes();
        this.target = add(add(add(point, right, x), up, y), forward, z);
    }

    // Half of the height that is seen at the distance of the target.
    get halfHeight() {
        return this.distance * Math.tan(this.fovY / 2);
    }

    // Moves eye and target.
    move(direction, way) {
        this.target = add(this.target, direction, way);
    }

    // Turns about the eye, which stays where it is.
    look(dYaw, dPitch) {
        const eye = this.position();
        this.rotate(dYaw, dPitch);
        this.target = add(eye, this.axes().forward, this.distance);
    }

    // A world length per pixel at a distance along the view.
    unitsPerPixel(depth, height) {
        if (this.isOrthographic) return (2 * this.halfHeight) / height;
        return (2 * depth * Math.tan(this.fovY / 2)) / height;
    }

    // Moves the scene with the pointer; `depth` is how far away the grabbed point lies.
    pan(dx, dy, height, depth = this.distance) {
        const { right, up } = this.axes();
        const unit = this.unitsPerPixel(depth, height);
        this.target = add(add(this.target, right, -dx * unit), up, dy * unit);
    }

    // Scales the view about a point, which therefore stays where it is on the screen.
    zoomAbout(point, factor) {
        const wanted = this.clampDistance(this.distance * factor);
        const real = wanted / this.distance;
        this.target = this.target.map((t, i) => point[i] + (t - point[i]) * real);
        this.distance = wanted;
    }

    // Lines that come nearer to the eye are cut off.
    get nearest() {
        return this.distance * 1e-3;
    }

    // Where a point is on the screen: x and y in -1..1, and how far along the view; behind the eye the depth is negative.
    project(point) {
        const { right, up, forward } = this.axes();
        const eye = this.position();
        const d = point.map((p, i) => p - eye[i]);
        const depth = dot(d, forward);
        const scale = 1 / (this.isOrthographic ? this.halfHeight : Math.abs(depth) * Math.tan(this.fovY / 2) || 1e-30);
        return { x: (dot(d, right) * scale) / this.aspect, y: dot(d, up) * scale, depth };
    }

    // Where a point is in a picture of so many pixels; null behind the eye.
    onScreen(point, width, height) {
        const { x, y, depth } = this.project(point);
        if (!this.isOrthographic && depth < this.nearest) return null;
        return [((x + 1) / 2) * width, ((1 - y) / 2) * height];
    }

    // The ray through a place of such a picture.
    rayAt(x, y, width, height) {
        return this.rayThrough((2 * x) / width - 1, 1 - (2 * y) / height);
    }

    // The direction from the eye through a point of the screen, x and y in -1..1.
    rayThrough(x, y) {
        const { right, up, forward } = this.axes();
        if (this.isOrthographic) {
            // Begins behind all that there is: points beside the eye are seen as well.
            const back = add(this.position(), forward, -2 * this.sceneSize - this.distance);
            return { origin: add(add(back, right, x * this.halfHeight * this.aspect), up, y * this.halfHeight), direction: forward, isParallel: true };
        }
        const t = Math.tan(this.fovY / 2);
        const d = add(add(forward, right, x * t * this.aspect), up, y * t);
        const length = Math.hypot(...d);
        return { origin: this.position(), direction: d.map((c) => c / length) };
    }

    // The four sides of the view, pointing inwards; nearer and farther points are always wanted.
    planes() {
        const { right, up, forward } = this.axes();
        const eye = this.position();
        if (this.isOrthographic) {
            const beside = (axis, half, sign) => [...axis.map((c) => sign * c), half - sign * dot(axis, eye)];
            const [x, y] = [this.halfHeight * this.aspect, this.halfHeight];
            return [beside(right, x, 1), beside(right, x, -1), beside(up, y, 1), beside(up, y, -1)];
        }
        const tanY = Math.tan(this.fovY / 2);
        const tanX = tanY * this.aspect;
        const side = (axis, tan, sign) => {
            const n = forward.map((f, i) => f * tan + sign * axis[i]);
            return [...n, -(n[0] * eye[0] + n[1] * eye[1] + n[2] * eye[2])];
        };
        return [side(right, tanX, 1), side(right, tanX, -1), side(up, tanY, 1), side(up, tanY, -1)];
    }

    // The nearest view in the present direction that shows a whole box, in the middle of the screen.
    fit(box, margin = 1.04) {
        const centre = box.min.map((m, i) => (m + box.max[i]) / 2);
        const { right, up, forward } = this.axes();
        const corners = [...Array(8).keys()].map((k) => {
            const p = centre.map((c, i) => ((k >> i) & 1 ? box.max[i] : box.min[i]) - c);
            return { right: dot(p, right), up: dot(p, up), depth: dot(p, forward) };
        });
        const tanY = Math.tan(this.fovY / 2);
        const across = tightest(corners.map((c) => [c.right, c.depth]), tanY * this.aspect);
        const along = tightest(corners.map((c) => [c.up, c.depth]), tanY);
        this.sceneSize = Math.hypot(...box.max.map((m, i) => m - box.min[i])) || 1; // one point is looked at as from 1 m
        if (this.isOrthographic) return this.fitParallel(centre, corners, margin);
        const back = Math.max(Math.max(across, along) * margin, this.sceneSize * 0.05);
        const aside = middle(corners.map((c) => [c.right, c.depth]), back);
        const above = middle(corners.map((c) => [c.up, c.depth]), back);
        const eye = add(add(add(centre, right, aside), up, above), forward, -back);
        // The target stays at the height of the middle, so that turning keeps the cloud in place.
        const vertical = this.frame[2];
        const level = dot(centre.map((c, i) => c - eye[i]), vertical) / dot(forward, vertical);
        this.distance = level > back * 0.5 && level < back * 1.5 ? level : back;
        this.target = add(eye, forward, this.distance);
    }

    fitParallel(centre, corners, margin) {
        const half = Math.max(...corners.map((c) => Math.max(Math.abs(c.up), Math.abs(c.right) / this.aspect))) || 0.5;
        this.distance = this.clampDistance((half * margin) / Math.tan(this.fovY / 2));
        this.target = centre;
    }

    // Near and far planes around a box, as tight as depth precision wants them.
    depthRange(box) {
        const { forward } = this.axes();
        const eye = this.position();
        let far = this.isOrthographic ? -Infinity : 0;
        let near = Infinity;
        for (let corner = 0; corner < 8; corner++) {
            const depth = [0, 1, 2].reduce(
                (sum, i) => sum + (((corner >> i) & 1 ? box.max[i] : box.min[i]) - eye[i]) * forward[i], 0);
            far = Math.max(far, depth);
            near = Math.min(near, depth);
        }
        if (this.isOrthographic) return { near: near - 0.01 * (far - near) - 1e-6, far: far + 0.01 * (far - near) + 1e-6 };
        far = Math.max(far * 1.01, this.distance * 2);
        return { near: Math.max(near * 0.95, this.distance * 0.01, far * 1e-6), far };
    }
}
