// Files from the desktop: COPC files are read where they lie, GeoJSON brings marks.
import { addressOf } from '../data/local_files.js';

const $ = (id) => document.getElementById(id);

export class Drop {
    // clouds: a Clouds; marks: a MarksPanel
    constructor(viewer, clouds, marks, status) {
        Object.assign(this, { viewer, clouds, marks, status });
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
            if (/\.(geo)?json$/i.test(file.name)) await this.marks.read(file);
            else if (/\.la[sz]$/i.test(file.name)) await this.show(file);
            else this.status.error(`${file.name}: the page reads COPC files (.copc.laz) and GeoJSON. "mote lod IN OUT.copc.laz" makes a COPC file of any cloud.`);
        }
    }

    async show(file) {
        const cloud = await this.clouds.add(addressOf(file));
        if (!cloud) return;
        this.viewer.activate(cloud);
        this.viewer.camera.fit(cloud.rest ?? cloud.box);
        this.viewer.invalidate();
    }
}
