/* What a cloud keeps of its order from when it was read. */
#include "order/order_prepared.h"

#include "order/lattice/lattice.h"

uint64_t *order_prepared_take(mote_cloud *cloud, mote_lattice *lattice) {
    uint64_t *codes = cloud->prepared.codes;
    const mote_column *axes[3];
    if (codes == NULL || mote_order_lattice(cloud->ctx, cloud, lattice, NULL) != MOTE_OK) return NULL;
    if (!lattice_is_plain(cloud, axes)) return NULL;
    cloud->prepared.codes = NULL;
    return codes;
}
