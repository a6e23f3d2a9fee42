// Points of all that a file has, by a server that can cut them out (`mote view` on this machine) or node by node in the page.
import { exactChannels } from '../data/attributes.js';
import { gather } from './gather.js';
import { numberOnServer, serverTools } from '../data/strip.js';

const ASK_MS = 500;

// How many points a LAS or LAZ file says that it has.
export async function pointsIn(blob) {
    const view = new DataView(await blob.slice(0, 375).arrayBuffer());
    return view.getUint8(25) >= 4 ? Number(view.getBigUint64(247, true)) : view.getUint32(107, true);
}

// By the server, as LAZ; null where it cannot.
async function cutByServer(cloud, request, signal, progress) {
    const number = numberOnServer(cloud);
    if (!number || !(await serverTools()).includes('cut')) return null;
    const asking = setInterval(async () => {
        const { done } = await fetch('cut').then((r) => r.json()).catch(() => ({}));
        if (done !== undefined) progress(done);
    }, ASK_MS);
    try {
        const answer = await fetch(`cut/${number}`, { method: 'POST', body: JSON.stringify(request), signal });
        if (answer.status === 503) throw new Error('the server is saving other points: try again in a moment');
        if (!answer.ok) throw new Error((await answer.text()).trim());
        const blob = await answer.blob();
        return { blob, points: await pointsIn(blob), ending: 'laz' };
    } finally {
        clearInterval(asking);
    }
}

// request: of requestOf(); signal: ends it; progress(share). Returns { blob, points, ending }.
export async function cutPoints(cloud, request, signal, progress) {
    const cut = await cutByServer(cloud, request, signal, progress);
    return cut ?? { ...(await gather(cloud, exactChannels(cloud.dataset.meta), request, signal, progress)), ending: 'las' };
}
