// Mouse, touch and keyboard to camera moves. Left drag turns, right drag (or shift) moves, the wheel zooms to the
// cursor; one finger turns, two fingers move and zoom.
const TURN_PER_PIXEL = 0.005; // radians
const ZOOM_PER_WHEEL_PIXEL = 0.0012;
const WHEEL_LINE_PIXELS = 33;
const MAX_WHEEL_PIXELS = 240;

export class Controls {
    // events { changed(), pickAt(x, y) -> { point, distance } | null, picked(hit) }
    constructor(element, camera, events) {
        this.element = element;
        this.camera = camera;
        this.events = events;
        this.pointers = new Map();
        this.grab = null; // the point under the cursor when a move or zoom began
        element.addEventListener('pointerdown', (e) => this.down(e));
        element.addEventListener('pointermove', (e) => this.move(e));
        element.addEventListener('pointerup', (e) => this.up(e));
        element.addEventListener('pointercancel', (e) => this.up(e));
        element.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
        element.addEventListener('dblclick', (e) => this.focus(e));
        element.addEventListener('contextmenu', (e) => e.preventDefault());
    }

    local(event) {
        const box = this.element.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    }

    down(event) {
        this.element.setPointerCapture?.(event.pointerId);
        const [x, y] = this.local(event);
        this.pointers.set(event.pointerId, { x, y });
        const moves = event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey;
        this.mode = this.pointers.size === 2 ? 'pinch' : moves ? 'pan' : 'turn';
        if (this.mode !== 'turn') this.grab = this.anchor(...this.centre());
        this.element.focus({ preventScroll: true });
    }

    up(event) {
        this.pointers.delete(event.pointerId);
        this.mode = this.pointers.size === 1 ? 'turn' : null;
    }

    centre() {
        const all = [...this.pointers.values()];
        return [all.reduce((s, p) => s + p.x, 0) / all.length, all.reduce((s, p) => s + p.y, 0) / all.length];
    }

    spread() {
        const [a, b] = [...this.pointers.values()];
        return Math.hypot(a.x - b.x, a.y - b.y);
    }

    // The picked point, or the point of the ray at the target's depth where there is none.
    anchor(x, y) {
        const hit = this.events.pickAt(x, y);
        const ray = this.ray(x, y);
        const { forward } = this.camera.axes();
        const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        if (hit) return { point: hit.point, depth: dot(hit.point.map((p, i) => p - ray.origin[i]), forward) };
        const length = this.camera.distance / dot(ray.direction, forward);
        return { point: ray.origin.map((o, i) => o + ray.direction[i] * length), depth: this.camera.distance };
    }

    ray(x, y) {
        const { clientWidth, clientHeight } = this.element;
        return this.camera.rayThrough((2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight);
    }

    move(event) {
        const pointer = this.pointers.get(event.pointerId);
        if (!pointer) return;
        const [x, y] = this.local(event);
        const [dx, dy] = [x - pointer.x, y - pointer.y];
        if (this.mode === 'pinch' && this.pointers.size === 2) {
            const before = this.spread();
            Object.assign(pointer, { x, y });
            this.camera.pan(dx / 2, dy / 2, this.element.clientHeight, this.grab.depth);
            if (before > 0 && this.spread() > 0) this.camera.zoomAbout(this.grab.point, before / this.spread());
        } else {
            Object.assign(pointer, { x, y });
            if (this.mode === 'pan') this.camera.pan(dx, dy, this.element.clientHeight, this.grab.depth);
            else this.camera.rotate(-dx * TURN_PER_PIXEL, dy * TURN_PER_PIXEL);
        }
        this.events.changed();
    }

    wheel(event) {
        event.preventDefault();
        const pixels = event.deltaMode === 1 ? event.deltaY * WHEEL_LINE_PIXELS : event.deltaY;
        const bounded = Math.max(-MAX_WHEEL_PIXELS, Math.min(MAX_WHEEL_PIXELS, pixels));
        const [x, y] = this.local(event);
        // One search per gesture: the point under a resting cursor stays the same while zooming.
        const now = performance.now();
        const same = this.wheelAt && Math.hypot(x - this.wheelAt.x, y - this.wheelAt.y) < 3 && now - this.wheelAt.time < 400;
        if (!same) this.grab = this.anchor(x, y);
        this.wheelAt = { x, y, time: now };
        this.camera.zoomAbout(this.grab.point, Math.exp(bounded * ZOOM_PER_WHEEL_PIXEL));
        this.events.changed();
    }

    // A double click makes the point the centre of turning and shows its coordinates.
    focus(event) {
        const hit = this.events.pickAt(...this.local(event));
        if (!hit) return;
        this.camera.set({ target: hit.point, distance: Math.max(hit.distance * 0.5, this.camera.sceneSize * 1e-4) });
        this.events.picked(hit);
        this.events.changed();
    }
}
