// Files from the desktop: COPC files are read where they lie, GeoJSON brings marks, a GeoPackage is draped, and what else is a cloud is sent to the
// server of the page to be converted, where that is a `mote view` on this machine.
import { headBytes } from '../data/copc/las_header.js';
import { addressOf } from '../data/local_files.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);

const STATUS_MS = 300;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

async function isCopc(file) {
    try {
        return /\.la[sz]$/i.test(file.name) && headBytes(await file.slice(0, 1024).arrayBuffer()) > 0;
    } catch {
        return false;
    }
}

// Sends a file; fetch() does not tell how far it is. Resolves to the status of the answer.
function send(url, file, progress) {
    return new Promise((done) => {
        const request = new XMLHttpRequest();
        request.open('PUT', url);
        request.upload.onprogress = (event) => progress(event.loaded / Math.max(1, file.size));
        request.onload = () => done(request.status);
        request.onerror = () => done(0);
        request.send(file);
    });
}

export class Drop {
    // clouds: a Clouds; marks: MarksFiles; overlays: an Overlays
    constructor(viewer, clouds, marks, overlays, status) {
        Object.assign(this, { viewer, clouds, marks, overlays, status });
        const isFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
        const over = (isOver) => $('stage').classList.toggle('dropping', isOver);
        window.addEventListener('dragover', (event) => {
            if (!isFiles(event)) return;
            event.preventDefault();
            over(true);
        });
        window.addEventListener('dragleave', (event) => event.relatedTarget === null && over(false));
        window.addEventListener('drop', (event) => {
            over(false);
            if (!isFiles(event)) return;
            event.preventDefault();
            this.take([...event.dataTransfer.files]);
        });
    }

    async take(files) {
        for (const file of files) {
            if (/\.(geojson|json5?)$/i.test(file.name)) await this.marks.read(file);
            else if (/\.gpkg$/i.test(file.name)) await this.overlays.add(file);
            else if (/\.(shp|kml|kmz)$/i.test(file.name)) this.status.error(t('drop.vectors', { name: file.name }));
            else if (await isCopc(file)) await this.show(addressOf(file));
            else await this.convert(file);
        }
    }

    async show(address) {
        const cloud = await this.clouds.add(address);
        if (!cloud) return;
        this.viewer.activate(cloud);
        this.viewer.camera.fit(cloud.rest ?? cloud.box);
        this.viewer.invalidate();
    }

    async convert(file) {
        const percent = (share) => `${Math.round(100 * share)} %`;
        const say = (text) => this.status.say(`${file.name}: ${text}`);
        const failed = (text) => this.status.error(`${file.name}: ${text}`);
        const status = await send(`convert/${encodeURIComponent(file.name)}`, file, (share) => say(t('drop.sent', { share: percent(share) })));
        if (status === 409) return failed(t('drop.busy'));
        if (status === 507) return failed(t('drop.full'));
        if (status !== 202) return failed(t('drop.not'));
        for (;;) {
            await wait(STATUS_MS);
            const answer = await fetch('convert').then((r) => r.json()).catch(() => null);
            if (!answer) return failed(t('drop.gone'));
            if (answer.state === 'failed') return failed(t('drop.failed', { why: answer.error }));
            if (answer.state === 'done') return this.show(`data${answer.cloud}/`);
            say(`${answer.stage || t('drop.waiting')} ${percent(answer.done)}`);
        }
    }
}
