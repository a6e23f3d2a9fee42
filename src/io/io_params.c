/* What readers and writers do unless they are told otherwise. */
#include <math.h>

#include "io/io_internal.h"

mote_read_params mote_read_defaults(void) {
    mote_read_params params;
    memset(&params, 0, sizeof params);
    params.level = -1;
    return params;
}

mote_read_sample mote_read_sample_defaults(void) {
    mote_read_sample sample;
    memset(&sample, 0, sizeof sample);
    for (int k = 0; k < 3; k++) {
        sample.box.min[k] = INFINITY;
        sample.box.max[k] = -INFINITY;
    }
    return sample;
}

mote_write_params mote_write_defaults(void) {
    mote_write_params params;
    memset(&params, 0, sizeof params);
    params.las_format = -1;
    return params;
}
