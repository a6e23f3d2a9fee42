// What the browser keeps for the next visit. Where it keeps nothing (private windows, storage forbidden) all works, unkept.
export function kept(key) {
    try {
        return localStorage.getItem(`mote.${key}`);
    } catch {
        return null;
    }
}

// text: null takes it away. Returns whether it is kept: storage may be full or forbidden.
export function keep(key, text) {
    try {
        if (text === null) localStorage.removeItem(`mote.${key}`);
        else localStorage.setItem(`mote.${key}`, text);
        return true;
    } catch {
        return false;
    }
}
