// A binary heap: the item with the largest key comes out first.
export class MaxHeap {
    constructor() {
        this.keys = [];
        this.items = [];
    }

    get size() {
        return this.items.length;
    }

    push(key, item) {
        const { keys, items } = this;
        let i = items.length;
        while (i > 0) {
            const parent = (i - 1) >> 1;
            if (keys[parent] >= key) break;
            keys[i] = keys[parent];
            items[i] = items[parent];
            i = parent;
        }
        keys[i] = key;
        items[i] = item;
    }

    pop() {
        const { keys, items } = this;
        const top = items[0];
        const key = keys.pop();
        const item = items.pop();
        const n = items.length;
        if (n === 0) return top;
        let i = 0;
        for (;;) {
            let child = 2 * i + 1;
            if (child >= n) break;
            if (child + 1 < n && keys[child + 1] > keys[child]) child++;
            if (keys[child] <= key) break;
            keys[i] = keys[child];
            items[i] = items[child];
            i = child;
        }
        keys[i] = key;
        items[i] = item;
        return top;
    }
}
