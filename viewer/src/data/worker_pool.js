// A few workers, each with one job at a time; jobs wait in the order they came.
import { DataError, told } from './errors.js';

export class WorkerPool {
    constructor(url, size = Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2) - 1))) {
        this.url = url;
        this.size = size;
        this.idle = [];
        this.count = 0;
        this.queue = [];
        this.nextId = 1;
        this.grow(); // starting takes a while: the first one does so while the page still loads
    }

    grow() {
        const worker = new Worker(this.url, { type: 'module', name: `decode-${this.count}` });
        const slot = { worker, task: null };
        worker.onmessage = ({ data }) => this.finish(slot, data);
        worker.onerror = (event) => {
            event.preventDefault();
            this.finish(slot, { error: { key: 'decode.worker', values: { why: event.message || { key: 'decode.start' } } } });
        };
        this.count++;
        this.idle.push(slot);
    }

    // Decodes bytes (an ArrayBuffer, which is moved) and resolves to the worker's result.
    run(job, bytes) {
        return new Promise((resolve, reject) => {
            this.queue.push({ job, bytes, resolve, reject });
            this.pump();
        });
    }

    pump() {
        while (this.queue.length > 0) {
            if (this.idle.length === 0 && this.count < this.size) this.grow();
            const slot = this.idle.pop();
            if (!slot) return;
            slot.task = this.queue.shift();
            slot.worker.postMessage({ id: this.nextId++, job: slot.task.job, bytes: slot.task.bytes }, [slot.task.bytes]);
        }
    }

    finish(slot, { result, error }) {
        const task = slot.task;
        slot.task = null;
        if (!this.idle.includes(slot)) this.idle.push(slot);
        if (task) {
            if (error) task.reject(error.key ? told(DataError, error.key, error.values) : new DataError(error));
            else task.resolve(result);
        }
        this.pump();
    }
}
