// A cube that turns with the view, and a needle to the north, as on a map whose top is where one looks: a click on a side, or
// Enter, looks from there.
import { t } from '../texts/texts.js';
import { frameOf } from '../view/up_axis.js';
import { svg } from './svg.js';

const HALF = 22; // of an edge, in pixels
const RIGHT = Math.PI / 2;

// What sides are called where another axis than z points up: then there is no north.
const OF_MODELS = { south: 'front', north: 'back', east: 'right', west: 'left' };

// Name, outward direction and two along the side (its text's right and up) as [east, north, up]; the yaw and pitch that look at it.
const FACES = [
    ['top', [0, 0, 1], [1, 0, 0], [0, 1, 0], null, RIGHT],
    ['bottom', [0, 0, -1], [1, 0, 0], [0, -1, 0], null, -RIGHT],
    ['south', [0, -1, 0], [1, 0, 0], [0, 0, 1], 0, 0],
    ['north', [0, 1, 0], [-1, 0, 0], [0, 0, 1], Math.PI, 0],
    ['east', [1, 0, 0], [0, 1, 0], [0, 0, 1], RIGHT, 0],
    ['west', [-1, 0, 0], [0, -1, 0], [0, 0, 1], -RIGHT, 0],
];

export class ViewCube {
    // viewer: the page's, or that of live pictures
    constructor(viewer) {
        this.viewer = viewer;
        this.faces = FACES.map(([name, normal, right, up, yaw, pitch]) => {
            const side = svg('g', { class: 'face', role: 'button', tabindex: '0' });
            const [title, text] = [svg('title'), svg('text', { y: 4 })];
            side.append(title, svg('path', { d: `M${-HALF} ${-HALF}H${HALF}V${HALF}H${-HALF}z` }), text);
            side.addEventListener('click', () => this.look(yaw, pitch));
            side.addEventListener('keydown', (event) => {
                if (event.key !== 'Enter' && event.key !== ' ') return;
                event.preventDefault();
                event.stopPropagation();
                this.look(yaw, pitch);
            });
            return { name, side, title, text, normal, right, up };
        });
        this.needle = svg('g', { class: 'needle' });
        this.needle.append(svg('path', { d: 'M-4 0L0 -12L4 0z' }), svg('path', { class: 'south', d: 'M-4 0L0 12L4 0z' }), Object.assign(svg('text', { y: -15 }), { textContent: t('cube.n') }));
        this.box = svg('svg', { id: 'cube', viewBox: '-48 -48 96 96' });
        this.box.setAttribute('role', 'group');
        this.box.setAttribute('aria-label', t('cube'));
        this.box.append(this.needle, ...this.faces.map(({ side }) => side));
        document.getElementById('stage').append(this.box);
        viewer.addEventListener('frame', () => this.draw());
    }

    // yaw null: it stays as it is, as from above.
    look(yaw, pitch) {
        const { camera, controls } = this.viewer;
        camera.set({ yaw: yaw ?? camera.yaw, pitch });
        controls.events.changed();
    }

    draw() {
        const { camera, settings } = this.viewer;
        const axes = camera.axes();
        const key = JSON.stringify([axes, settings.up]);
        if (key === this.drawn) return;
        this.drawn = key;
        const frame = frameOf(settings.up);
        const turned = (v) => [0, 1, 2].map((i) => v[0] * frame[0][i] + v[1] * frame[1][i] + v[2] * frame[2][i]);
        const seen = (v) => {
            const w = turned(v);
            const along = (axis) => w.reduce((sum, c, i) => sum + c * axis[i], 0);
            return [along(axes.right), -along(axes.up), along(axes.forward)]; // to the right, down, away
        };
        for (const { side, normal, right, up } of this.faces) {
            const [n, a, b] = [normal, right, up].map(seen);
            side.setAttribute('visibility', n[2] < -0.02 ? 'visible' : 'hidden'); // and then it has no focus
            side.setAttribute('transform', `matrix(${[a[0], a[1], -b[0], -b[1], n[0] * HALF, n[1] * HALF].map((c) => c.toFixed(4)).join(' ')})`);
        }
        this.needle.setAttribute('visibility', settings.up === 'z' ? 'visible' : 'hidden');
        this.needle.setAttribute('transform', `translate(-34 30) rotate(${((camera.yaw * 180) / Math.PI).toFixed(1)})`);
        if (settings.up !== this.named) this.name(settings.up);
    }

    name(up) {
        this.named = up;
        for (const { name, side, title, text } of this.faces) {
            const own = up === 'z' ? name : OF_MODELS[name] ?? name;
            text.textContent = t(`cube.${own}`);
            title.textContent = t(`cube.from.${own}`);
            side.setAttribute('aria-label', title.textContent);
        }
    }
}
