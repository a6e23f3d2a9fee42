/* What a data set consists of: nothing else of its folder is served, exported or removed. */
#ifndef MOTE_CLI_VIEW_DATA_H
#define MOTE_CLI_VIEW_DATA_H

/* The files of a Potree 2.0 folder. */
#define VIEW_FOLDER_FILES                                                                                              \
    { "metadata.json", "hierarchy.bin", "octree.bin" }

/// Removes exactly what a conversion writes; a folder that holds anything else stays.
void view_folder_remove(const char *folder);

#endif
