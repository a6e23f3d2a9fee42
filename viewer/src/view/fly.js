// Flying: the keys W A S D and Q E move the eye, dragging looks around, the wheel changes the speed.
const SPEED = 1 / 12; // of the size of the scene, in a second
const FAST = 4; // with shift
const MAX_STEP_S = 0.1; // a frame that took longer moves no farther
const DIRECTIONS = { w: ['forward', 1], s: ['forward', -1], d: ['right', 1], a: ['right', -1], e: ['vertical', 1], q: ['vertical', -1] };

export class Fly {
    // events { moved(), changed(isOn), said(text) }
    constructor(camera, events) {
        Object.assign(this, { camera, events });
        this.isOn = false;
        this.factor = 1;
        this.held = new Set();
        this.isFast = false;
        this.last = null;
        window.addEventListener('keydown', (e) => this.key(e, true), true);
        window.addEventListener('keyup', (e) => this.key(e, false), true);
        window.addEventListener('blur', () => this.held.clear());
    }

    set(isOn) {
        if (isOn === this.isOn) return;
        this.isOn = isOn;
        this.held.clear();
        this.events.changed(isOn);
    }

    get speed() {
        return this.camera.sceneSize * SPEED * this.factor;
    }

    faster(factor) {
        this.factor = Math.max(1e-4, Math.min(1e3, this.factor * factor));
        this.events.said(this.speed);
    }

    key(event, isDown) {
        if (!this.isOn || event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.('input, select, textarea')) return;
        if (document.querySelector('dialog[open]')) return;
        this.isFast = event.shiftKey;
        const letter = /^Key([A-Z])$/.exec(event.code)?.[1].toLowerCase(); // by its place: other keyboards have other letters there
        const isEnd = event.key === 'Escape';
        if (!isEnd && !(letter in DIRECTIONS)) return;
        event.preventDefault();
        event.stopPropagation();
        if (isEnd && isDown) return this.set(false);
        if (isDown && !this.held.has(letter)) {
            this.held.add(letter);
            if (this.held.size === 1) this.start();
        } else if (!isDown) {
            this.held.delete(letter);
        }
    }

    start() {
        this.last = performance.now();
        requestAnimationFrame(() => this.step());
    }

    step() {
        if (!this.isOn || this.held.size === 0) return;
        const now = performance.now();
        const seconds = Math.min(MAX_STEP_S, (now - this.last) / 1000);
        this.last = now;
        const axes = { ...this.camera.axes(), vertical: this.camera.frame[2] };
        const way = this.speed * (this.isFast ? FAST : 1) * seconds;
        for (const letter of this.held) {
            const [axis, sign] = DIRECTIONS[letter];
            this.camera.move(axes[axis], sign * way);
        }
        this.events.moved();
        requestAnimationFrame(() => this.step());
    }
}
