/* Any bytes as an OBJ scene, and as its materials: read, and look through what was read. */
#include "fuzz/fuzz_support.h"
#include "fuzz/scene_fuzz.h"
#include "io/scene/obj_lines.h"

static void read_materials(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    const mote_input input = {.path = "fuzz.mtl", .data = data, .size_bytes = size};
    scene_draft draft = {.ctx = ctx, .path = input.path};
    static obj_notes notes;
    obj_materials materials;
    memset(&materials, 0, sizeof materials);
    obj_lines lines = obj_lines_of(&draft, input.path, &input, &notes);
    obj_read_material_lines(&draft, &lines, &materials);
    obj_materials_free(ctx, &materials);
    scene_draft_free(&draft);
    fuzz_end(ctx, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_materials(data, size);
    return scene_fuzz("fuzz.obj", data, size);
}
