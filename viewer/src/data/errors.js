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

// The text of { key, values } in which values may be texts of keys themselves: causes.
const worded = ({ key, values = {} }) => words(key, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value?.key ? worded(value) : value])));

// An error with the text of a key, which is found when it is read: texts may still be on their way when it is thrown.
export const told = (Kind, key, values) => Object.defineProperty(Object.assign(new Kind(), { key, values }), 'message', { get: () => worded({ key, values }) });

// What a worker, which has no texts, sends of an error: its key and values, or the words of the browser.
export const causeOf = (error) => (error?.key ? { key: error.key, values: error.values } : String(error?.message ?? error));

export const isAbort = (error) => error?.name === 'AbortError';
