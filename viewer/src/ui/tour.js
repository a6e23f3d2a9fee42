// A tour through the saved views: played, or saved as numbered pictures. Colours and filters stay as they are; the camera moves.
import { frames } from '../view/camera_path.js';
import { cameraOf } from '../view_state.js';
import { zip } from '../data/zip.js';
import { download, fileStem } from './download.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);
const LEG_MS = 3000; // from view to view
const FRAMES_PER_SECOND = 30;
const MAX_BYTES = 2 ** 31; // of all pictures: a .zip file of this kind and a browser's memory hold no more

export class Tour {
    // views: SavedViews; picture: a Picture
    constructor(viewer, views, picture, status) {
        Object.assign(this, { viewer, views, picture, status });
        this.running = null; // what stops it
        $('tour-play').addEventListener('click', () => (this.running ? this.running() : this.play()));
        $('tour-save').addEventListener('click', () => (this.running ? this.running() : this.save()));
        for (const type of ['pointerdown', 'wheel']) viewer.canvas.addEventListener(type, () => this.running?.());
    }

    cameras() {
        return this.views.list.map(({ view }) => cameraOf(this.viewer, new URLSearchParams(view).get('cam'))).filter(Boolean);
    }

    begin() {
        const token = { stopped: false };
        this.running = () => (token.stopped = true);
        $('tour-play').textContent = $('tour-save').textContent = t('tour.stop');
        return token;
    }

    end() {
        this.running = null;
        $('tour-play').textContent = t('page.play-tour');
        $('tour-save').textContent = t('page.save-frames');
    }

    async play() {
        const cameras = this.cameras();
        if (cameras.length < 2) return;
        const token = this.begin();
        const steps = 1000;
        const all = frames(cameras, steps);
        const start = performance.now();
        const total = LEG_MS * (cameras.length - 1);
        for (let t = 0; t < total && !token.stopped; t = performance.now() - start) {
            this.viewer.camera.set(all[Math.min(all.length - 1, Math.floor((t / total) * (all.length - 1)))]);
            this.viewer.moved();
            await new Promise(requestAnimationFrame);
        }
        if (!token.stopped) this.viewer.camera.set(cameras.at(-1));
        this.viewer.moved();
        this.end();
    }

    // Each frame waits until all its points are there.
    async save(stepsOfLeg = (LEG_MS / 1000) * FRAMES_PER_SECOND) {
        const { viewer } = this;
        const cameras = this.cameras();
        if (cameras.length < 2) return;
        const before = viewer.camera.get();
        const token = this.begin();
        const [width, height] = [viewer.canvas.width, viewer.canvas.height].map((side) => side - (side % 2)); // films need even sides
        const files = [];
        const all = frames(cameras, stepsOfLeg);
        let bytes = 0;
        try {
            for (const [i, camera] of all.entries()) {
                if (token.stopped || bytes > MAX_BYTES) break;
                viewer.camera.set(camera);
                const blob = await this.picture.make(width, height);
                files.push({ name: `frame-${String(i + 1).padStart(5, '0')}.png`, bytes: new Uint8Array(await blob.arrayBuffer()) });
                bytes += blob.size;
                this.status.say(t('tour.frame', { n: i + 1, all: all.length }));
            }
            if (!token.stopped) download(`${fileStem(viewer.dataset.meta.name)}-tour.zip`, new Blob(zip(files), { type: 'application/zip' }));
        } catch (error) {
            this.status.error(t('tour.failed', { why: error.message }));
        }
        viewer.camera.set(before);
        viewer.invalidate();
        this.end();
    }
}
