/* Areas of polygons, without points. Compiled for the page, too (viewer/wasm/page_measure.c). */
#ifndef MOTE_AREA_H
#define MOTE_AREA_H

#include "measure/measure_math.h"
#include "measure/polygon_grid.h"
#include "mote/measure.h"

mote_status area_measure(mote_context *ctx, const mote_shapes *shapes, uint32_t feature, const measure_unit *horizontal,
                         const measure_unit *vertical, mote_area *area);

#endif
