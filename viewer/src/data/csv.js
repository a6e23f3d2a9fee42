// A table as CSV (RFC 4180).
const cell = (v) => (/[",\n\r]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
export const csv = (rows) => rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
