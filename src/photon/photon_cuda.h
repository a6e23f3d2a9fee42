/* Photon mapping on a GPU: what its files share. */
#ifndef MOTE_PHOTON_CUDA_H
#define MOTE_PHOTON_CUDA_H

#include "device/cuda/cuda.h"
#include "photon/photon_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PHOTON_CUDA_ARRAYS 9u /* of a scene */

/* A scene in the memory of a GPU, made when it is first needed: the tree is the host's. */
typedef struct photon_scene_cuda {
    mote_device *device;
    photon_view view; /* with pointers of the device */
    void *arrays[PHOTON_CUDA_ARRAYS];
} photon_scene_cuda;

/* These are the entries of mote_photon_ops of a GPU. */
mote_status photon_open_scene_on_cuda(mote_device *gpu, mote_scene *scene);
void photon_close_scene_on_cuda(mote_scene *scene);
mote_status photon_emit_on_cuda(mote_device *gpu, const photon_emitting *e, photon_cloud *to, photon_tally *tally);
mote_status photon_choose_on_cuda(mote_device *gpu, const photon_cloud *from, int choice, photon_cloud *to);
mote_status photon_gather_on_cuda(mote_device *gpu, mote_scene *scene, photon_cloud *photons, const mote_cloud *queries,
                                  const mote_photon_gathering *params, float *irradiance, double *radius2);
mote_status photon_look_up_on_cuda(mote_device *gpu, const mote_scene *scene, const photon_cloud *known,
                                   const mote_cloud *queries, const photon_sample *rays, float *irradiance,
                                   uint8_t *unknown);

#ifdef __cplusplus
}
#endif
#endif
