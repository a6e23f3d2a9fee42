/* A file of the command's own that appears only when complete. The functions return 0 or an errno. */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct output_file {
    const char *path; /* of the caller */
    char *temporary;
    int file;
} output_file;

/* Makes it, under a temporary name beside its final one. output_file_close is needed either way. */
int output_file_open(output_file *output, const char *path);
/* From several threads at once, too. */
int output_file_write_at(const output_file *output, const void *data, uint64_t size_bytes, uint64_t offset);
/* Gives it its name (error 0), or removes it; returns error, or what went wrong now. */
int output_file_close(output_file *output, int error);

#endif
