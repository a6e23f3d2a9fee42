/// mote: the umbrella header.
#ifndef MOTE_MOTE_H
#define MOTE_MOTE_H
#include "cloud.h"
#include "context.h"
#include "crs.h"
#include "e57.h"
#include "gen.h"
#include "io.h"
#include "knn.h"
#include "lod.h"
#include "measure.h"
#include "normals.h"
#include "order.h"
#include "parts.h"
#include "photon.h"
#include "planes.h"
#include "render.h"
#include "shapes.h"
#include "strays.h"
#include "types.h"
#include "version.h"
#include "where.h"
#endif
