/* Gathering on CPU cores. */
#ifndef MOTE_PHOTON_GATHER_CPU_H
#define MOTE_PHOTON_GATHER_CPU_H

#include "photon/photon_ops.h"

/* These are the entries of mote_photon_ops of the CPU. */
mote_status photon_gather_on_cpu(mote_device *device, mote_scene *scene, photon_cloud *photons,
                                 const mote_cloud *queries, const mote_photon_gathering *params, float *irradiance,
                                 double *radius2);
mote_status photon_look_up_on_cpu(mote_device *device, const mote_scene *scene, const photon_cloud *known,
                                  const mote_cloud *queries, const photon_sample *rays, float *irradiance,
                                  uint8_t *unknown);

#endif
