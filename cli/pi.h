/* C17 has no name for it, and the command does not see the library's. */
#ifndef PI_H
#define PI_H

#define PI 3.14159265358979323846

#endif
