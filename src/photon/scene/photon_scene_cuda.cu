/* Scenes in the memory of a GPU. The tree is built on the host: it is a sort and one pass over the shapes. */
#include "photon/photon_cuda.h"

/* An array of a scene: of the host, and the pointer to its copy. */
typedef struct scene_array {
    const void *host;
    uint64_t size_bytes;
    const void **device;
} scene_array;

/* A material that no shape has is not needed: there are as many as the largest number of one. */
static uint64_t surface_count(const mote_scene *scene) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < scene->view.shape_count; i++) {
        if (scene->shapes[i].material >= count) count = scene->shapes[i].material + 1ull;
    }
    return count;
}

static mote_status upload(mote_device *gpu, mote_scene *scene) {
    photon_scene_cuda *const c = scene->cuda;
    photon_view *const view = &c->view;
    *view = scene->view;
    photon_scan_if_few(view);
    const uint64_t textured = view->texture_count > 0;
    const scene_array arrays[PHOTON_CUDA_ARRAYS] = {
        {scene->shapes, view->shape_count * sizeof *scene->shapes, (const void **)&view->shapes},
        {scene->nodes, (uint64_t)view->node_count * sizeof *scene->nodes, (const void **)&view->nodes},
        {scene->surfaces, surface_count(scene) * sizeof *scene->surfaces, (const void **)&view->surfaces},
        {scene->lights, view->light_count * sizeof *scene->lights, (const void **)&view->lights},
        {scene->tints, (scene->tints != NULL) * view->shape_count * sizeof *scene->tints, (const void **)&view->tints},
        {scene->corners, textured * view->shape_count * sizeof *scene->corners, (const void **)&view->corners},
        {scene->textures, view->texture_count * sizeof *scene->textures, (const void **)&view->textures},
        {scene->texels, view->texel_bytes, (const void **)&view->texels},
        {scene->linear, textured * 256 * sizeof *scene->linear, (const void **)&view->linear}};
    for (uint32_t i = 0; i < PHOTON_CUDA_ARRAYS; i++) {
        c->arrays[i] = cuda_alloc(gpu, arrays[i].size_bytes, "scene");
        if (c->arrays[i] == NULL) return MOTE_ERROR_MEMORY;
        *arrays[i].device = arrays[i].host != NULL ? c->arrays[i] : NULL;
        if (arrays[i].size_bytes > 0) MOTE_TRY(cuda_upload(gpu, c->arrays[i], arrays[i].host, arrays[i].size_bytes));
    }
    return MOTE_OK;
}

mote_status photon_open_scene_on_cuda(mote_device *gpu, mote_scene *scene) {
    if (scene->cuda != NULL && scene->cuda->device == gpu) return MOTE_OK;
    if (scene->cuda != NULL) photon_close_scene_on_cuda(scene);
    scene->cuda = (photon_scene_cuda *)mote_alloc_zero(scene->ctx, sizeof *scene->cuda, "scene");
    if (scene->cuda == NULL) return MOTE_ERROR_MEMORY;
    scene->cuda->device = gpu;
    const mote_status status = upload(gpu, scene);
    if (status != MOTE_OK) photon_close_scene_on_cuda(scene);
    return status;
}

void photon_close_scene_on_cuda(mote_scene *scene) {
    photon_scene_cuda *const c = scene->cuda;
    for (uint32_t i = 0; i < PHOTON_CUDA_ARRAYS; i++) cuda_free(c->device, c->arrays[i]);
    mote_free(scene->ctx, c);
    scene->cuda = NULL;
}
