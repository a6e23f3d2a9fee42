/// mote: the version of these headers. The library says its own with mote_version; see docs/library.md for what may
/// change between versions.
#ifndef MOTE_VERSION_H
#define MOTE_VERSION_H

#define MOTE_VERSION_MAJOR 0
#define MOTE_VERSION_MINOR 1
#define MOTE_VERSION_PATCH 0
/// One number that grows, for the preprocessor: 100 for 0.1.0, 10203 for 1.2.3.
#define MOTE_VERSION_NUMBER (MOTE_VERSION_MAJOR * 10000 + MOTE_VERSION_MINOR * 100 + MOTE_VERSION_PATCH)

#endif
