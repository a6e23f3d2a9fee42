// Which kind of data set an address names: a COPC file or a Potree 2.0 folder.
import { Dataset, dataUrl, isFile, startPotree } from './dataset.js';
import { fetchPage } from './fetcher.js';
import { CopcDataset, startCopc } from './copc/copc_dataset.js';

export const startRequests = (url) => quiet(isFile(url) ? startCopc(url) : startPotree(url));

export const datasetAt = (url, pool, options) => new (isFile(url) ? CopcDataset : Dataset)(url, pool, options);

// Where a site of `mote view --export` has its data: a line of its page says it, else it is beside the page. null: the
// address is that of no page.
async function dataOfSite(url) {
    const text = await fetchPage(url);
    if (text === null) return null;
    const [, content = 'data/'] = /<meta name="mote-data" content="([^"]*)">/.exec(text) ?? [];
    return dataUrl(content, url);
}

// A server tells of previews of its own alone.
const isPreviewOf = (making, url) => Boolean(making) && new URL(making.preview, url).origin === new URL(url).origin;

function openPreview(url, pool, options) {
    const dataset = datasetAt(url, pool, options);
    return dataset.open(startRequests(dataset.folder));
}

// Opens what an address names: a folder, a file, or a site that holds one of them.
export async function openDataset(url, pool, options) {
    try {
        return await datasetAt(url, pool, options).open(options.requests ?? startRequests(url));
    } catch (error) {
        if (isPreviewOf(error.making, url)) return openPreview(url, pool, { ...options, making: error.making });
        const inner = error.isMissing && !isFile(url) ? await dataOfSite(url) : null;
        if (!inner || inner === url || url.endsWith('/data/')) throw error;
        return datasetAt(inner, pool, options).open().catch(() => { throw error; });
    }
}

// What fails is reported by open(), which waits for it later.
function quiet(requests) {
    for (const request of Object.values(requests)) request.catch(() => {});
    return requests;
}
