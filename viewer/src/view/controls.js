// Mouse, touch and keyboard to camera moves. Left drag turns around what is under the cursor, right drag (or shift) moves,
// the wheel zooms to the cursor; one finger turns, two fingers move and zoom.
const TURN_PER_PIXEL = 0.005; // radians
const LOOK_PER_PIXEL = 0.003;
const ZOOM_PER_WHEEL_PIXEL = 0.0012;
const WHEEL_UNIT_PIXELS = [1, 33, 400]; // of deltaMode: pixels, lines, pages
const PINCH_ON_TRACKPAD = 6; // it comes as a wheel with ctrl, in steps this much smaller
const MAX_WHEEL_PIXELS = 240;
const TAP_MS = 350; // two taps within this time and this many pixels are a double tap
const TAP_PIXELS = 24;
const CLICK_PIXELS = 4; // a mouse that moved no farther has not dragged

export class Controls {
    // fly: a Fly; while it is on, dragging looks around and the wheel changes its speed.
    // events { changed(), picked(hit), centre() -> point, clicked(x, y) -> whether something was done,
    // ended(): by a right click }, and two that give { point, distance } or null:
    // pickAt(x, y) what is under the cursor, nearestAt(x, y) what is seen nearest to it
    constructor(element, camera, fly, events) {
        this.element = element;
        this.camera = camera;
        this.fly = fly;
        this.events = events;
        this.pointers = new Map();
        this.tap = null; // the last short touch
        this.focused = -Infinity; // when a point was made the centre
        this.taken = false; // the last click was for a tool
        this.grab = null; // the point under the cursor when a move or zoom began
        this.pivot = null; // and when a turn did; over the background null: the target
        element.addEventListener('pointerdown', (e) => this.down(e));
        element.addEventListener('pointermove', (e) => this.move(e));
        element.addEventListener('pointerup', (e) => this.up(e));
        element.addEventListener('pointercancel', (e) => this.up(e));
        element.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
        element.addEventListener('dblclick', (e) => this.taken || this.focus(...this.local(e)));
        element.addEventListener('contextmenu', (e) => e.preventDefault());
    }

    local(event) {
        const box = this.element.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    }

    down(event) {
        this.element.setPointerCapture?.(event.pointerId);
        const [x, y] = this.local(event);
        this.pointers.set(event.pointerId, { x, y, startX: x, startY: y });
        const moves = event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey;
        this.mode = this.pointers.size >= 2 ? 'pinch' : moves ? 'pan' : 'turn';
        if (this.mode === 'turn') this.pivot = this.fly.isOn ? null : (this.events.pickAt(x, y)?.point ?? null);
        else this.grab = this.anchor(...this.centre());
        this.element.focus({ preventScroll: true });
    }

    up(event) {
        const pointer = this.pointers.get(event.pointerId);
        const alone = this.pointers.size === 1;
        this.pointers.delete(event.pointerId);
        this.mode = this.pointers.size >= 2 ? 'pinch' : this.pointers.size === 1 ? 'turn' : null;
        this.pivot = null; // the finger that remains is elsewhere
        if (!pointer || !alone || event.type !== 'pointerup') return;
        const isStill = Math.hypot(pointer.x - pointer.startX, pointer.y - pointer.startY) < (event.pointerType === 'touch' ? TAP_PIXELS : CLICK_PIXELS);
        this.taken = isStill && event.button === 0 && this.events.clicked(pointer.x, pointer.y);
        if (isStill && event.button === 2) this.events.ended?.();
        if (event.pointerType === 'touch' && !this.taken) this.tapped(pointer);
    }

    // Not every browser makes a double click of two taps.
    tapped({ x, y, startX, startY }) {
        const now = performance.now();
        const rested = Math.hypot(x - startX, y - startY) < TAP_PIXELS;
        const again = this.tap && now - this.tap.time < TAP_MS && Math.hypot(x - this.tap.x, y - this.tap.y) < TAP_PIXELS;
        this.tap = rested && !again ? { x, y, time: now } : null;
        if (rested && again) this.focus(x, y);
    }

    centre() {
        const all = [...this.pointers.values()];
        return [all.reduce((s, p) => s + p.x, 0) / all.length, all.reduce((s, p) => s + p.y, 0) / all.length];
    }

    spread() {
        const [a, b] = [...this.pointers.values()];
        return Math.hypot(a.x - b.x, a.y - b.y);
    }

    // What a zoom goes to and a move holds: the point under the cursor; over the background the one seen nearest to it;
    // where nothing is seen, the middle of the cloud.
    anchor(x, y) {
        const hit = this.events.pickAt(x, y) ?? this.events.nearestAt(x, y);
        if (!hit) return { point: this.events.centre(), depth: this.camera.distance };
        const eye = this.camera.position();
        const { forward } = this.camera.axes();
        return { point: hit.point, depth: hit.point.reduce((sum, p, i) => sum + (p - eye[i]) * forward[i], 0) };
    }

    // Zooms as the wheel does in the middle of the picture.
    zoomMiddle(factor) {
        const { clientWidth, clientHeight } = this.element;
        this.camera.zoomAbout(this.anchor(clientWidth / 2, clientHeight / 2).point, factor);
        this.events.changed();
    }

    move(event) {
        const pointer = this.pointers.get(event.pointerId);
        if (!pointer) return;
        const [x, y] = this.local(event);
        const [dx, dy] = [x - pointer.x, y - pointer.y];
        if (this.mode === 'pinch') {
            const before = this.spread();
            Object.assign(pointer, { x, y });
            this.camera.pan(dx / 2, dy / 2, this.element.clientHeight, this.grab.depth);
            if (before > 0 && this.spread() > 0) this.camera.zoomAbout(this.grab.point, before / this.spread());
        } else {
            Object.assign(pointer, { x, y });
            if (this.mode === 'pan') this.camera.pan(dx, dy, this.element.clientHeight, this.grab.depth);
            else if (this.fly.isOn) this.camera.look(dx * LOOK_PER_PIXEL, -dy * LOOK_PER_PIXEL);
            else this.turn(-dx * TURN_PER_PIXEL, dy * TURN_PER_PIXEL);
        }
        this.events.changed();
    }

    turn(yaw, pitch) {
        if (this.pivot) this.camera.rotateAbout(this.pivot, yaw, pitch);
        else this.camera.rotate(yaw, pitch);
    }

    wheel(event) {
        event.preventDefault();
        const pixels = event.deltaY * (WHEEL_UNIT_PIXELS[event.deltaMode] ?? 1) * (event.ctrlKey ? PINCH_ON_TRACKPAD : 1);
        const bounded = Math.max(-MAX_WHEEL_PIXELS, Math.min(MAX_WHEEL_PIXELS, pixels));
        if (this.fly.isOn) return this.fly.faster(Math.exp(-bounded * ZOOM_PER_WHEEL_PIXEL));
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
    focus(x, y) {
        const now = performance.now();
        if (now - this.focused < TAP_MS) return; // a browser that made a double click of two taps as well
        this.focused = now;
        const hit = this.events.pickAt(x, y);
        if (!hit) return;
        this.camera.set({ target: hit.point, distance: Math.max(hit.distance * 0.5, this.camera.sceneSize * 1e-4) });
        this.events.picked(hit);
        this.events.changed();
    }
}
