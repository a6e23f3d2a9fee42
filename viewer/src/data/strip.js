// The points beside a path, of all that a file has, by a server that can cut them out: `mote view` on this machine.
import { DEGREE } from './geographic.js';
import { t } from '../texts/texts.js';

const NUMBER = /\/data(\d*)\//; // of a cloud in the addresses of that server: the first has none

// What the server of the page says that it can do with its clouds. The page itself is asked for, which every server has.
export async function serverTools() {
    const answer = await fetch(location.pathname, { method: 'HEAD' }).catch(() => null);
    return (answer?.headers.get('X-Mote-Tools') ?? '').split(/,\s*/);
}

// By which number that server knows a cloud; null where it comes from another one, or the page counts in other units than its file.
export function numberOnServer(cloud) {
    if (cloud.dataset.meta.isConverted) return null;
    const url = new URL(cloud.dataset.url, location.href);
    const found = url.origin === location.origin && NUMBER.exec(url.pathname);
    return found ? Number(found[1] || 1) : null;
}

// cloud: a Cloud; mark: a profile, { points, width }, seen along z. Returns a LAS file as a Blob; null where the server cannot
// do it. Throws an Error with the server's words where it fails.
export async function cutStrip(cloud, { points, width }) {
    if (cloud.dataset.making) throw new Error(t('making.wait'));
    const number = numberOnServer(cloud);
    if (!number || !(await serverTools()).includes('strip')) return null;
    const { crs, isLonLat } = cloud.dataset.meta;
    const query = new URLSearchParams({ path: points.flatMap(([x, y]) => [x, y]), width, radians: isLonLat ? crs?.radians ?? DEGREE : 0 });
    // Commas as they are: the server reads numbers and decodes nothing.
    const answer = await fetch(`strip/${number}?${String(query).replaceAll('%2C', ',')}`, { method: 'POST' });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.blob();
}
