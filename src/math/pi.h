/* C17 has no names for these. */
#ifndef MOTE_PI_H
#define MOTE_PI_H

#define MOTE_PI          3.14159265358979323846
#define MOTE_ROOT_TWO_PI 2.5066282746310002 /* one by this is the middle of the normal density */

#endif
