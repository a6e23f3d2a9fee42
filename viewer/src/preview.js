// A cloud whose octree the server is still making is shown as a sample. Here the page asks how far that is, and goes over to the
// octree when it is there and all of its nodes that the view wants have come, in one frame: nothing moves.
import { openDataset } from './data/open_dataset.js';
import { channelsOf } from './view/colouring.js';
import { selectTogether } from './view/traversal.js';
import { OfflineError } from './data/errors.js';
import { fetchJson } from './data/fetcher.js';
import { t } from './texts/texts.js';

const $ = (id) => document.getElementById(id);
const ASK_MS = 500;
const LOOK_MS = 100; // between two looks at what the view wants
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// The octree of a cloud, with the nodes that the present view wants.
class Successor {
    constructor(viewer, cloud, dataset) {
        Object.assign(this, { viewer, cloud, dataset });
        this.nodes = new Set();
        this.look = cloud.lookOf(dataset);
        this.loader = cloud.loaderOf(dataset, viewer.cacheBytes, {
            onNode: (node) => this.nodes.add(node),
            onDrop: (node) => this.nodes.delete(node),
            onError: () => {}, // it is told when the node is asked for again
            onOffline: () => {},
            onChange: () => {},
        });
    }

    // Whether all is there. What is seen, and how, may change meanwhile.
    isComplete() {
        const { viewer, cloud, dataset, loader } = this;
        this.look = cloud.lookOf(dataset);
        const { mode, filter, moreChannels } = this.look;
        loader.channels = [...new Set([...channelsOf(mode), ...filter.channels, ...moreChannels])];
        const trees = viewer.clouds.map((other) => (other === cloud ? { root: cloud.isShown ? dataset.root : null, scheme: dataset.meta.scheme } : other.tree));
        loader.update(selectTogether(trees, viewer.clippedView(), viewer.limits)[viewer.clouds.indexOf(cloud)]);
        return !loader.busy;
    }
}

// Goes over to the octree. The cloud may be closed meanwhile.
async function exchange(viewer, cloud) {
    const { origin, stretch, crs, isLonLat } = viewer.space;
    const dataset = await openDataset(cloud.dataset.url, viewer.pool, { frame: { origin, stretch, crs, isLonLat }, lonLat: cloud.dataset.meta.isLonLat });
    if (dataset.making) return false;
    dataset.autoExposure = viewer.settings.autoExposure;
    dataset.meta.exposure = cloud.dataset.meta.exposure; // nothing becomes brighter either
    await viewer.beginning; // it looks at the first node of the sample
    const successor = new Successor(viewer, cloud, dataset);
    while (viewer.clouds.includes(cloud) && !(dataset.root === null || successor.isComplete())) await wait(LOOK_MS);
    if (viewer.clouds.includes(cloud)) viewer.replaced(cloud, () => cloud.replace(dataset, successor.look, successor.loader, successor.nodes));
    return true;
}

// What the server says of the octree; null where it is there. Where the server is not reached it is asked again.
async function makingOf(url) {
    for (;;) {
        try {
            await fetchJson(`${url}metadata.json`);
            return null;
        } catch (error) {
            if (error.making) return error.making;
        }
        await wait(ASK_MS);
    }
}

// Where the server is not reached just now, it is asked again.
function later(error) {
    if (error instanceof OfflineError) return false;
    throw error;
}

const linesOf = ({ told, untold }) => [...String(told ?? '').split('\n'), untold > 0 ? t('drop.more', { n: untold }) : ''].filter(Boolean);

async function follow(viewer, cloud, status) {
    const told = new Set();
    const line = newLine();
    while (viewer.clouds.includes(cloud)) {
        const making = await makingOf(cloud.dataset.url);
        const news = making ? linesOf(making).filter((text) => !told.has(text)) : [];
        for (const text of news) told.add(text);
        if (news.length > 0) status.error(t('making.left', { lines: news.join('\n') }));
        if (making?.state === 'failed') {
            line.textContent = t('making.none', { name: cloud.dataset.meta.name });
            return status.error(t('making.failed', { why: making.error }));
        }
        if (!making && (await exchange(viewer, cloud).catch(later))) break;
        if (making) line.textContent = t('making.now', { stage: making.stage, share: `${Math.round(100 * making.done)} %` });
        await wait(ASK_MS);
    }
    line.remove();
    if (viewer.clouds.includes(cloud)) status.say(t('making.done'));
}

// A line of the status for each.
function newLine() {
    const line = document.createElement('span');
    $('s-making').append(line);
    return line;
}

export function followPreviews(viewer, status) {
    const followed = new WeakSet();
    viewer.addEventListener('clouds', () => {
        for (const cloud of viewer.clouds.filter(({ dataset }) => dataset.making)) {
            if (followed.has(cloud)) continue;
            followed.add(cloud);
            follow(viewer, cloud, status).catch((error) => status.error(error.message));
        }
    });
}
