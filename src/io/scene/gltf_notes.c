/* glTF 2.0: what has no effect, told once for each kind. */
#include "io/scene/gltf.h"

#include <math.h>
#include <mote_have.h>
#include <stdio.h>

#if MOTE_HAVE_JANSSON

void gltf_note(const gltf_file *f, gltf_note_kind kind, const char *format, ...) {
    if (f->notes->counts[kind]++ > 0) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->notes->first[kind], sizeof f->notes->first[kind], format, arguments);
    va_end(arguments);
}

double gltf_within(const gltf_file *f, const char *kind, uint64_t i, const char *name, double value, double low,
                   double high) {
    if (value >= low && value <= high) return value;
    gltf_note(f, GLTF_NOTE_VALUE, "%s[%llu]: %s %g", kind, (unsigned long long)i, name, value);
    return fmin(fmax(value, low), high);
}

void gltf_tell_notes(const gltf_file *f) {
    static const char *const words[GLTF_NOTE_KINDS] = {
        "textures cannot be read: the colour of the material is taken, and no emission",
        "lists of points or lines are left out: triangles alone are drawn",
        "lists of triangles have normals, which are not used: surfaces are drawn flat",
        "lists of triangles lack the texture coordinates of their material: the corner of the texture is taken",
        "meshes have skins, which are not used: they are drawn as they are, without their bones",
        "meshes have morph targets: they are drawn with the weights that the file has",
        "animations are left out: all is drawn where it rests",
        "textures have no effect: those of colour and emission are used",
        "metals that are not smooth everywhere are drawn as diffuse",
        "materials that let less than half of the light through are drawn as if they let none",
        "bodies of glass have a colour inside, which is left out",
        "textures of emission lie otherwise than those of the colour: their mean is taken",
        "lights of other types are left out",
        "lights have a range, which is not used: they fade with the square of the distance alone",
        "further cameras are left out",
        "values are out of range: the nearest within it is taken",
        "extensions have no effect",
    };
    for (int i = 0; i < GLTF_NOTE_KINDS; i++) {
        if (f->notes->counts[i] == 0) continue;
        mote_warn(f->draft->ctx, "%s: %llu %s; the first: %s", f->input->path, (unsigned long long)f->notes->counts[i],
                  words[i], f->notes->first[i]);
    }
}

#endif
