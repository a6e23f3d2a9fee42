// An error whose message is meant for the person at the screen: what is wrong, where, and what to do.
export class DataError extends Error {
    constructor(message, options) {
        super(message, options);
        this.name = 'DataError';
    }
}

// The server cannot be reached at present, or cannot do its work: worth asking again.
export class OfflineError extends DataError {}

let words = (key) => key;
// What finds the texts of keys; of a page.
export const useWords = (find) => (words = find);

// An error with the text of a key, which is found when it is read: texts may still be on their way when it is thrown.
export const told = (Kind, key, values) => Object.defineProperty(new Kind(), 'message', { get: () => words(key, values) });

export const isAbort = (error) => error?.name === 'AbortError';
