// The points beside a path, of all that a file has, by a server that can cut them out: `mote view` on this machine.

const NUMBER = /\/data(\d*)\//; // of a cloud in the addresses of that server: the first has none

// Whether the server of the page says that it cuts strips. The page itself is asked for, which every server has.
async function canCut() {
    const answer = await fetch(location.pathname, { method: 'HEAD' }).catch(() => null);
    return (answer?.headers.get('X-Mote-Tools') ?? '').split(/,\s*/).includes('strip');
}

// cloud: a Cloud; mark: a profile, { points, width }, seen along z. Returns a LAS file as a Blob; null where the server cannot
// do it. Throws an Error with the server's words where it fails.
export async function cutStrip(cloud, { points, width }) {
    const url = new URL(cloud.dataset.url, location.href);
    const number = NUMBER.exec(url.pathname);
    if (url.origin !== location.origin || !number || !(await canCut())) return null;
    const query = new URLSearchParams({ path: points.flatMap(([x, y]) => [x, y]), width, degrees: cloud.dataset.meta.isLonLat ? 1 : 0 });
    // Commas as they are: the server reads numbers and decodes nothing.
    const answer = await fetch(`strip/${number[1] || 1}?${String(query).replaceAll('%2C', ',')}`, { method: 'POST' });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.blob();
}
