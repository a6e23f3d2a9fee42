/* What each sample of a frame shows, before light: modes fill it, shading reads it.

     sample     0 1 2 ...   row after row of the part that is drawn
     depth      infinity where nothing is
     color      r g b a each, 16 bits; a is 65535 where something is
     normal     x y z each, in the camera's axes, towards the camera; zeros where there is none
     index      row of the cloud
     value      what SHOW_RADIUS and SHOW_ITERATIONS show
     edl        CPU: depth as eye-dome lighting compares it
     light      CPU: eye-dome lighting

   Arrays that a frame does not need are NULL. */
#ifndef MOTE_RENDER_SAMPLES_H
#define MOTE_RENDER_SAMPLES_H

#include "math/host_device.h"

typedef struct render_samples {
    float *depth;
    uint16_t *color;
    float *normal;
    uint32_t *index;
    float *value;
    float *edl, *light;
} render_samples;

#endif
