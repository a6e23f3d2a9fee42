// The picture as a file, in any size: points, background and what lies over them.
import { download, fileStem } from './download.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const MIN_SIDE = 16;

const css = (element, name) => getComputedStyle(element)[name];

// The background of the stage, a colour or a gradient from top to bottom.
function drawBackground(g, width, height) {
    const { backgroundColor, backgroundImage } = getComputedStyle($('stage'));
    const colours = backgroundImage.match(/(rgba?|color|oklab|lab)\([^)]*\)/g);
    if (colours) {
        const gradient = g.createLinearGradient(0, 0, 0, height);
        colours.forEach((colour, i) => gradient.addColorStop(i / Math.max(1, colours.length - 1), colour));
        g.fillStyle = gradient;
    } else {
        g.fillStyle = backgroundColor;
    }
    g.fillRect(0, 0, width, height);
}

// Lines, corners and texts of the overlay.
function drawOverlay(g) {
    g.lineCap = 'round';
    g.lineJoin = 'round';
    for (const e of $('overlay').children) {
        const number = (name) => Number(e.getAttribute(name));
        g.strokeStyle = css(e, 'stroke');
        g.fillStyle = css(e, 'fill');
        g.lineWidth = parseFloat(css(e, 'strokeWidth'));
        g.beginPath();
        if (e.tagName === 'line') {
            g.moveTo(number('x1'), number('y1'));
            g.lineTo(number('x2'), number('y2'));
            g.stroke();
        } else if (e.tagName === 'circle' && !e.classList.contains('handle-3d')) {
            g.arc(number('cx'), number('cy'), number('r'), 0, 2 * Math.PI);
            g.fill();
            g.stroke();
        } else if (e.tagName === 'path') {
            g.stroke(new Path2D(e.getAttribute('d')));
        } else if (e.tagName === 'text') {
            g.font = `600 12px ${css(e, 'fontFamily')}`;
            g.strokeText(e.textContent, number('x'), number('y'));
            g.fillText(e.textContent, number('x'), number('y'));
        }
    }
}

export class Picture {
    constructor(viewer, status) {
        Object.assign(this, { viewer, status });
        $('picture-form').addEventListener('submit', (e) => e.submitter?.value !== 'cancel' && this.save());
        const keep = () => ($('picture-height').value = Math.round($('picture-width').valueAsNumber / viewer.camera.aspect) || '');
        $('picture-same').addEventListener('change', () => $('picture-same').checked && keep());
        $('picture-width').addEventListener('input', () => $('picture-same').checked && keep());
    }

    ask() {
        const { viewer } = this;
        if (!viewer.dataset?.root) return;
        const ratio = viewer.renderer.gl.getPixelRatio();
        const limit = viewer.renderer.maxSide;
        $('picture-width').max = $('picture-height').max = limit;
        $('picture-width').value = Math.round(viewer.canvas.clientWidth * ratio);
        $('picture-height').value = Math.round(viewer.canvas.clientHeight * ratio);
        $('picture').showModal();
    }

    async save() {
        const side = (id) => Math.max(MIN_SIDE, Math.min(this.viewer.renderer.maxSide, Math.round($(id).valueAsNumber) || MIN_SIDE));
        try {
            const blob = await this.make(side('picture-width'), side('picture-height'));
            download(`${fileStem(this.viewer.dataset.meta.name)}.png`, blob);
        } catch (error) {
            this.status.error(t('picture.failed', { why: error.message }));
        }
    }

    // Waits until all nodes that this size wants are there.
    async make(width, height) {
        const { viewer } = this;
        const canvas = Object.assign(document.createElement('canvas'), { width, height });
        const g = canvas.getContext('2d');
        drawBackground(g, width, height);
        await viewer.withSize(width, height, (points) => g.drawImage(points, 0, 0, width, height));
        const scale = height / viewer.canvas.clientHeight;
        g.translate((width - viewer.canvas.clientWidth * scale) / 2, 0); // a picture of other sides shows more or less beside
        g.scale(scale, scale);
        if ($('picture-marks').checked) drawOverlay(g);
        return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(t('picture.memory')))), 'image/png'));
    }
}
