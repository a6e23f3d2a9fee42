// The pictures that mote makes without an option, of every file that it reads: sheets of them, to be looked at.
//     node tests/contact_sheet.mjs --mote build/test/mote --data ../shared/data --out /tmp/sheet [--size 960x540] [WORD…]
// Words pick the files whose path has one of them. Sheets are called OUT_0.png, OUT_1.png, …; under each picture stand
// its file, its mode, its colours, what is up, and how many points it is of. What is refused is listed at the end.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { deflateSync, crc32 } from 'node:zlib';

const TILE = [384, 216], TEXT = 22, COLUMNS = 5, ROWS = 6, GLYPH = [6, 8];

function takeArguments() {
  const options = { mote: 'build/test/mote', data: '../shared/data', out: '/tmp/sheet', size: '960x540', extra: '' };
  const words = [];
  for (let i = 2; i < process.argv.length; i++) {
    const name = process.argv[i].slice(2);
    if (process.argv[i].startsWith('--') && name in options) options[name] = process.argv[++i];
    else words.push(process.argv[i]);
  }
  return { ...options, words };
}

function* filesUnder(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'broken') yield* filesUnder(path);
    if (entry.isFile()) yield path;
  }
}

/* The font of the legends: 40 bits a glyph, five to a row, from the space on. */
function readFont() {
  const source = readFileSync(new URL('../cli/render/bitmap_font.c', import.meta.url), 'utf8');
  return [...source.matchAll(/UINT64_C\(0x([0-9A-Fa-f]+)\)/g)].map((found) => BigInt(`0x${found[1]}`));
}

function write(sheet, font, text, x, y) {
  [...text].forEach((letter, i) => {
    const glyph = font[letter.charCodeAt(0) - 32] ?? font[31];
    for (let bit = 0; bit < 40; bit++) {
      if (!((glyph >> BigInt(39 - bit)) & 1n)) continue;
      const at = 3 * ((y + Math.floor(bit / 5)) * sheet.width + x + i * GLYPH[0] + (bit % 5));
      sheet.pixels.fill(0, at, at + 3);
    }
  });
}

/* A picture's mean over each pixel of its tile. */
function shrink(sheet, rgba, size, x, y) {
  const step = [size[0] / TILE[0], size[1] / TILE[1]];
  for (let row = 0; row < TILE[1]; row++) {
    for (let column = 0; column < TILE[0]; column++) {
      const sum = [0, 0, 0];
      let count = 0;
      for (let v = Math.floor(row * step[1]); v < Math.ceil((row + 1) * step[1]); v++) {
        for (let u = Math.floor(column * step[0]); u < Math.ceil((column + 1) * step[0]); u++, count++) {
          for (let k = 0; k < 3; k++) sum[k] += rgba[4 * (v * size[0] + u) + k];
        }
      }
      for (let k = 0; k < 3; k++) sheet.pixels[3 * ((y + row) * sheet.width + x + column) + k] = sum[k] / count;
    }
  }
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]), head = Buffer.alloc(4), tail = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  tail.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, tail]);
}

function writePng(path, sheet) {
  const header = Buffer.alloc(13), rows = Buffer.alloc(sheet.height * (3 * sheet.width + 1));
  header.writeUInt32BE(sheet.width, 0);
  header.writeUInt32BE(sheet.height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  for (let y = 0; y < sheet.height; y++) {
    rows.set(sheet.pixels.subarray(3 * y * sheet.width, 3 * (y + 1) * sheet.width), y * (3 * sheet.width + 1) + 1);
  }
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  writeFileSync(path, Buffer.concat([mark, chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0))]));
}

/* A scene, by its light. A picture of `mote photon` is a PPM: three bytes a pixel behind three lines. */
function drawScene(options, file, scratch) {
  const picture = join(scratch, 'picture.ppm');
  const words = ['photon', file, '-o', picture, '--size', options.size, '--photons', '20k', '-q', '--json'];
  const facts = JSON.parse(execFileSync(options.mote, words, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120000 }));
  const bytes = readFileSync(picture), [width, height] = options.size.split('x').map(Number);
  const rgba = Buffer.alloc(4 * width * height, 255), start = bytes.length - 3 * width * height;
  for (let i = 0; i < width * height; i++) bytes.copy(rgba, 4 * i, start + 3 * i, start + 3 * i + 3);
  return { facts: { points: facts.triangles, mode: 'triangles', color: `${facts.lights} lights` }, rgba };
}

function draw(options, file, scratch) {
  if (/\.(glb|gltf|obj)$/i.test(file)) return drawScene(options, file, scratch);
  const raw = join(scratch, 'picture.raw');
  const words = ['render', file, '-o', raw, '--size', options.size, '-q', '--json'];
  if (options.extra) words.push(...options.extra.split(' '));
  const facts = JSON.parse(execFileSync(options.mote, words, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120000 }));
  return { facts, rgba: readFileSync(raw) };
}

function main() {
  const options = takeArguments(), font = readFont(), refused = [];
  const size = options.size.split('x').map(Number), scratch = mkdtempSync(join(tmpdir(), 'mote-sheet-'));
  const wanted = (name) => options.words.length === 0 || options.words.some((word) => name.includes(word));
  const shown = [];
  for (const file of filesUnder(options.data)) {
    const name = relative(options.data, file);
    if (!wanted(name)) continue;
    try {
      shown.push({ name, ...draw(options, file, scratch) });
    } catch (error) {
      refused.push(`${name}: ${String(error.stderr ?? error).trim().split('\n')[0]}`);
      continue;
    }
    if (shown.length % (COLUMNS * ROWS) === 0) finish(options, font, shown, size);
  }
  if (shown.length % (COLUMNS * ROWS) !== 0) finish(options, font, shown, size);
  rmSync(scratch, { recursive: true });
  for (const line of refused) if (process.env.SHOW_REFUSED) console.log(`refused ${line}`);
  console.log(`${shown.length} pictures, ${refused.length} files refused`);
}

/* The sheet that the last picture is on. */
function finish(options, font, shown, size) {
  const first = Math.floor((shown.length - 1) / (COLUMNS * ROWS)) * COLUMNS * ROWS, here = shown.slice(first);
  const pitch = [TILE[0] + 4, TILE[1] + TEXT], rows = Math.ceil(here.length / COLUMNS);
  const sheet = { width: COLUMNS * pitch[0], height: rows * pitch[1] };
  sheet.pixels = new Uint8Array(3 * sheet.width * sheet.height).fill(200);
  here.forEach((picture, i) => {
    const x = (i % COLUMNS) * pitch[0], y = Math.floor(i / COLUMNS) * pitch[1], { facts } = picture;
    const up = facts.up ? ` up ${facts.up.map((v) => Number(v.toFixed(2))).join(',')}` : '';
    shrink(sheet, picture.rgba, size, x, y);
    write(sheet, font, picture.name.slice(-62), x + 2, y + TILE[1] + 2);
    write(sheet, font, `${facts.points} ${facts.mode} ${facts.color}${up}`.slice(0, 62), x + 2, y + TILE[1] + 12);
    picture.rgba = null;
  });
  const path = `${options.out}_${first / (COLUMNS * ROWS)}.png`;
  writePng(path, sheet);
  console.log(path);
}

main();
