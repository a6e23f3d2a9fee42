// Decoded nodes, least recently used first, within a bound of bytes.
export class NodeCache {
    constructor(limitBytes, onDrop) {
        this.limitBytes = limitBytes;
        this.bytes = 0;
        this.entries = new Map(); // node -> bytes; a Map remembers the order of insertion
        this.onDrop = onDrop;
    }

    put(node, bytes) {
        this.bytes += bytes - (this.entries.get(node) ?? 0);
        this.entries.delete(node);
        this.entries.set(node, bytes);
    }

    touch(node) {
        const bytes = this.entries.get(node);
        if (bytes === undefined) return;
        this.entries.delete(node);
        this.entries.set(node, bytes);
    }

    clear() {
        for (const node of this.entries.keys()) this.onDrop(node);
        this.entries.clear();
        this.bytes = 0;
    }

    // Drops the oldest nodes until the rest fits; those in `keep` (a Set) stay whatever it costs.
    trim(keep) {
        if (this.bytes <= this.limitBytes) return;
        for (const [node, bytes] of this.entries) {
            if (keep.has(node)) continue;
            this.entries.delete(node);
            this.bytes -= bytes;
            this.onDrop(node);
            if (this.bytes <= this.limitBytes) return;
        }
    }
}
