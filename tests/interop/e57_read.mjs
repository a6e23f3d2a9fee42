// Prints the points of E57 files as web-e57 reads them: x y z and, where there are colours, red green blue of 8 bits.
//   node tests/interop/e57_read.mjs FOLDER_OF_THE_PACKAGE FILE…
// For each file a line "# FILE", then "! reason" where it cannot be read, or a line a point.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, ...files] = process.argv.slice(2);
const glue = await import(pathToFileURL(join(folder, 'e57_bg.js')));
const wasm = new WebAssembly.Module(readFileSync(join(folder, 'e57_bg.wasm')));
glue.__wbg_set_wasm(new WebAssembly.Instance(wasm, { './e57_bg.js': glue }).exports);
for (const file of files) {
    process.stdout.write(`# ${file}\n`);
    try {
        process.stdout.write(glue.convertE57(new Uint8Array(readFileSync(file)), 'XYZ'));
    } catch (error) {
        process.stdout.write(`! ${error?.message ?? error}\n`);
    }
}
