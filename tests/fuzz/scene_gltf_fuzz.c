/* Any bytes as a glTF scene: read, and look through what was read. */
#include "fuzz/fuzz_support.h"
#include "fuzz/scene_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return scene_fuzz("fuzz.gltf", data, size); }
