/* C17 has no name for it. */
#ifndef MOTE_PI_H
#define MOTE_PI_H

#define MOTE_PI 3.14159265358979323846

#endif
