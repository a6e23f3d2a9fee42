/* glTF 2.0: numbers of its JSON, and what is wrong with it. */
#include "io/scene/gltf.h"

#include <math.h>
#include <mote_have.h>
#include <stdio.h>

#if MOTE_HAVE_JANSSON

mote_status gltf_wrong(const gltf_file *f, const char *kind, uint64_t i, const char *format, ...) {
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (kind == NULL) return mote_fail(f->draft->ctx, MOTE_ERROR_DATA, "%s: %s", f->input->path, why);
    return mote_fail(f->draft->ctx, MOTE_ERROR_DATA, "%s: %s[%llu]: %s", f->input->path, kind, (unsigned long long)i,
                     why);
}

bool gltf_integer(const json_t *object, const char *key, uint64_t fallback, uint64_t *out) {
    const json_t *value = json_object_get(object, key);
    *out = fallback;
    if (value == NULL) return true;
    if (json_is_integer(value)) {
        *out = (uint64_t)json_integer_value(value);
        return json_integer_value(value) >= 0;
    }
    const double real = json_is_real(value) ? json_real_value(value) : NAN;
    if (!(real >= 0 && real <= 9007199254740992.0) || real != floor(real)) return false;
    *out = (uint64_t)real;
    return true;
}

bool gltf_reals(const json_t *object, const char *key, uint32_t count, double *out) {
    const json_t *array = json_object_get(object, key);
    if (array == NULL) return true;
    if (!json_is_array(array) || json_array_size(array) != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value) || !isfinite(json_number_value(value))) return false;
        out[i] = json_number_value(value);
    }
    return true;
}

bool gltf_real(const json_t *object, const char *key, double *out) {
    const json_t *value = json_object_get(object, key);
    if (value == NULL) return true;
    if (!json_is_number(value) || !isfinite(json_number_value(value))) return false;
    *out = json_number_value(value);
    return true;
}

const json_t *gltf_element(const gltf_file *f, const char *array, uint64_t i) {
    return json_array_get(json_object_get(f->root, array), (size_t)i); /* NULL beyond its end */
}

const json_t *gltf_extension(const json_t *object, const char *name) {
    return json_object_get(json_object_get(object, "extensions"), name);
}

bool gltf_index(const gltf_file *f, const json_t *object, const char *key, const char *array, uint64_t *out) {
    if (!gltf_integer(object, key, GLTF_NONE, out)) return false;
    return *out == GLTF_NONE || gltf_element(f, array, *out) != NULL;
}

#endif
