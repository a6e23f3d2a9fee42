// Files from the desktop: COPC files are read where they lie, GeoJSON brings marks, a GeoPackage is draped, and what else is a cloud is sent to the
// server of the page to be converted, where that is a `mote view` on this machine.
import { headBytes } from '../data/copc/las_header.js';
import { addressOf } from '../data/local_files.js';
import { t } from '../texts/texts.js';

const $ = (id) => document.getElementById(id);

const STATUS_MS = 300;
const TOLD_LINES = 12;
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

    // What went wrong, or is to be known, of all of them is one message: there is room for few.
    async take(files) {
        this.told = [];
        for (const file of files) {
            if (/\.(geojson[ls]?|json5?)$/i.test(file.name)) await this.marks.read(file);
            else if (/\.gpkg$/i.test(file.name)) await this.overlays.add(file);
            else if (/\.(shp|kml|kmz)$/i.test(file.name)) this.told.push(t('drop.vectors', { name: file.name }));
            else if (await isCopc(file)) await this.show(addressOf(file));
            else await this.convert(file);
        }
        const { told } = this;
        if (told.length > TOLD_LINES) told.splice(TOLD_LINES, Infinity, t('drop.more', { n: told.length - TOLD_LINES }));
        if (told.length > 0) this.status.error(told.join('\n'));
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
        const tell = (text) => this.told.push(`${file.name}: ${text}`);
        const status = await send(`convert/${encodeURIComponent(file.name)}`, file, (share) => say(t('drop.sent', { share: percent(share) })));
        if (status === 409) return tell(t('drop.busy'));
        if (status === 503) return tell(t('drop.many'));
        if (status === 507) return tell(t('drop.full'));
        if (status !== 202) return tell(t('drop.not'));
        for (;;) {
            await wait(STATUS_MS);
            const answer = await fetch('convert').then((r) => r.json()).catch(() => null);
            if (!answer) return tell(t('drop.gone'));
            if (answer.state === 'failed') return tell(t('drop.failed', { why: answer.error }));
            if (answer.state === 'done') {
                // Most name the file already.
                for (const line of answer.told.split('\n').filter(Boolean)) this.told.push(line.startsWith(file.name) ? line : `${file.name}: ${line}`);
                if (answer.untold > 0) tell(t('drop.more', { n: answer.untold }));
                return this.show(`data${answer.cloud}/`);
            }
            say(`${answer.stage || t('drop.waiting')} ${percent(answer.done)}`);
        }
    }
}
