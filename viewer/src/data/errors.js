// An error whose message is meant for the person at the screen: what is wrong, where, and what to do.
export class DataError extends Error {
    constructor(message, options) {
        super(message, options);
        this.name = 'DataError';
    }
}

export const isAbort = (error) => error?.name === 'AbortError';
