/* A profile as a picture: height over distance, with axes and their units. */
#ifndef CLI_PROFILE_PICTURE_H
#define CLI_PROFILE_PICTURE_H

#include <mote/mote.h>

#include "session.h"

mote_status profile_draw(session *s, const char *path, const mote_cloud *cloud, const mote_profile *profile,
                         const mote_units *units);

#endif
