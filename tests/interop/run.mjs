// What mote writes, read by laz-perf and copc (WebAssembly and JavaScript), point by point.
//   node tests/interop/run.mjs --mote BINARY --scratch DIR [--data DIR] [--only WORD]
// Ends with 1 if anything differs. DIR of --data: the folder of real scans.
import { existsSync } from 'node:fs';
import { controls } from './controls.mjs';
import { realScans } from './real_scans.mjs';
import { writtenByMote } from './written_by_mote.mjs';

function parseArguments(args) {
    const o = { mote: null, scratch: null, data: null, only: '' };
    for (let i = 0; i < args.length; i += 2) {
        const name = args[i].replace('--', '');
        if (!(name in o) || i + 1 === args.length) throw new Error(`unknown argument ${args[i]}`);
        o[name] = args[i + 1];
    }
    if (o.mote === null || o.scratch === null) throw new Error('--mote and --scratch are needed');
    return o;
}

async function main() {
    const o = parseArguments(process.argv.slice(2));
    if (o.data !== null && !existsSync(o.data)) o.data = null;
    if (o.data === null) console.log('the folder of real data is not there: only synthetic scans');
    const checks = [...controls(o), ...writtenByMote(o), ...realScans(o)].filter((c) => c.name.includes(o.only));
    let failures = 0;
    for (const check of checks) {
        try {
            console.log(`  ok    ${check.name}: ${await check.run()}`);
        } catch (error) {
            console.log(`  FAIL  ${check.name}: ${error?.message ?? error}`);
            failures++;
        }
    }
    console.log(`interop: ${checks.length} checks, ${failures} failures`);
    return failures === 0 && checks.length > 0 ? 0 : 1;
}

process.exitCode = await main();
