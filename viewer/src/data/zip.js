// A .zip file whose members are stored as they are (PKWARE APPNOTE 6.3): pictures are compressed already. Pure.

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c >>> 0;
});

export function crc32(bytes) {
    let c = 0xffffffff;
    for (const byte of bytes) c = TABLE[(c ^ byte) & 255] ^ (c >>> 8);
    return (c ^ 0xffffffff) >>> 0;
}

// What the local header and the directory say alike of a member.
function common(view, at, { crc, bytes, name }) {
    view.setUint16(at, 20, true); // version needed
    view.setUint16(at + 2, 0x0800, true); // names are UTF-8
    view.setUint16(at + 8, 0x0021, true); // 1980-01-01: no time is told
    view.setUint32(at + 10, crc, true);
    view.setUint32(at + 14, bytes.length, true);
    view.setUint32(at + 18, bytes.length, true);
    view.setUint16(at + 22, name.length, true);
}

// files: [{ name, bytes: Uint8Array }], together below 4 GB. Returns the parts of a Blob.
export function zip(files) {
    const parts = [];
    const directory = [];
    let at = 0;
    for (const file of files) {
        const member = { name: new TextEncoder().encode(file.name), bytes: file.bytes, crc: crc32(file.bytes) };
        const local = new DataView(new ArrayBuffer(30));
        local.setUint32(0, 0x04034b50, true);
        common(local, 4, member);
        const entry = new DataView(new ArrayBuffer(46));
        entry.setUint32(0, 0x02014b50, true);
        entry.setUint16(4, 20, true);
        common(entry, 6, member);
        entry.setUint32(42, at, true);
        parts.push(local, member.name, member.bytes);
        directory.push(entry, member.name);
        at += 30 + member.name.length + member.bytes.length;
    }
    const size = directory.reduce((sum, part) => sum + part.byteLength, 0);
    const end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, files.length, true);
    end.setUint16(10, files.length, true);
    end.setUint32(12, size, true);
    end.setUint32(16, at, true);
    return [...parts, ...directory, end];
}
