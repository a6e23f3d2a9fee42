// Which kind of data set an address names: a COPC file or a Potree 2.0 folder.
import { Dataset, isFile, startPotree } from './dataset.js';
import { CopcDataset, startCopc } from './copc/copc_dataset.js';

export const startRequests = (url) => quiet(isFile(url) ? startCopc(url) : startPotree(url));

export const datasetAt = (url, pool, options) => new (isFile(url) ? CopcDataset : Dataset)(url, pool, options);

// What fails is reported by open(), which waits for it later.
function quiet(requests) {
    for (const request of Object.values(requests)) request.catch(() => {});
    return requests;
}
