/* Emitting photons on CPU cores. */
#ifndef MOTE_PHOTON_EMIT_CPU_H
#define MOTE_PHOTON_EMIT_CPU_H

#include "photon/photon_ops.h"

/* These are the entries of mote_photon_ops of the CPU. */
mote_status photon_emit_on_cpu(mote_device *device, const photon_emitting *e, photon_cloud *to, photon_tally *tally);
mote_status photon_choose_on_cpu(mote_device *device, const photon_cloud *from, int choice, photon_cloud *to);

#endif
