/* The files that an input of `mote view` stands for: itself, or the point files of a folder. Of a folder those that
 * cannot be read are left out, and told once: one of a thousand does not keep the others from being seen. */
#ifndef MOTE_CLI_VIEW_FILES_H
#define MOTE_CLI_VIEW_FILES_H

#include "session.h"

typedef struct view_files {
    char **paths;
    size_t count, capacity;
    bool is_folder;
    void (*told)(void *user, const char *message); /* of each that is left out; NULL: standard error alone is */
    void *told_user;
} view_files;

/// Lists the files. input: a file or folder that is there. Free the list in any case.
/// Returns  0, or an exit code of the command after a message on standard error
int view_files_find(session *s, const char *input, view_files *files);
void view_files_free(view_files *files);

/// Leaves out a file of a folder, and tells why. Returns false where the list does not have it, or is no folder's.
bool view_files_drop(session *s, view_files *files, const char *path, const char *why);

/// A number for what the files are now: their names, sizes and times of change.
/// seed     goes into it
/// Returns  false, and errno, where one cannot be looked at
bool view_files_state(const view_files *files, uint64_t seed, uint64_t *state);

/// The checksum of the cache: FNV-1a.
uint64_t view_files_hash(uint64_t hash, const void *data, size_t size);

#endif
