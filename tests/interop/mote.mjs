// Runs the command under test.
import { execFileSync } from 'node:child_process';

export function runMote(mote, ...args) {
    try {
        return execFileSync(mote, [...args, '--quiet'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
        throw new Error(`mote ${args.join(' ')}: ${error.stderr?.trim() || error.message}`);
    }
}
