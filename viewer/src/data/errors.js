// An error whose message is meant for the person at the screen: what is wrong, where, and what to do.
export class DataError extends Error {
    constructor(message, options) {
        super(message, options);
        this.name = 'DataError';
    }
}

// The server cannot be reached at present, or cannot do its work: worth asking again.
export class OfflineError extends DataError {}

export const isAbort = (error) => error?.name === 'AbortError';
