// Comparisons of point records, which say at which point they differ.
import assert from 'node:assert/strict';

export function* eachRecord(records, recordBytes) {
    for (let at = 0; at < records.length; at += recordBytes) yield records.subarray(at, at + recordBytes);
}

// The same records in the same order, byte for byte.
export function assertSameRecords(got, expected, recordBytes) {
    assert.equal(got.length / recordBytes, expected.length / recordBytes, 'number of points');
    if (Buffer.compare(got, expected) === 0) return;
    let at = 0;
    while (got[at] === expected[at]) at++;
    const point = Math.floor(at / recordBytes);
    const of = (records) => records.subarray(point * recordBytes, (point + 1) * recordBytes).toString('hex');
    assert.fail(`point ${point} differs at byte ${at % recordBytes}: ${of(got)}, expected ${of(expected)}`);
}

// The same records in any order, each as often. key: record → the bytes that count.
export function assertSameSet(got, expected) {
    assert.equal(got.length, expected.length, 'number of points');
    const sorted = [got, expected].map((keys) => keys.map((key) => key.toString('latin1')).sort());
    for (let i = 0; i < sorted[0].length; i++) {
        if (sorted[0][i] === sorted[1][i]) continue;
        const hex = sorted.map((keys) => Buffer.from(keys[i], 'latin1').toString('hex'));
        assert.fail(`other points: ${hex[0]}, expected ${hex[1]} (number ${i} in the order of their bytes)`);
    }
}
