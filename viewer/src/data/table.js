// A table that is asked for names which come from files, addresses and servers: it holds its own rows and nothing else. Plain
// objects also answer to "constructor", "toString" and "__proto__".
export const table = (rows) => Object.freeze(Object.assign(Object.create(null), rows));

// A word, a number or nothing of a value that was read: other things may not even let themselves be turned into one.
export const textOf = (value) => (['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '');
export const numberOf = (value) => (['string', 'number'].includes(typeof value) ? Number(value) : NaN);
