/* Runs a fuzz target over files and folders: the corpus, or, by hand, any others. */
#define _GNU_SOURCE /* nftw */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES (4u << 20) /* larger files are for benchmarks */

static long replayed;

static int replay(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)where;
    if (kind != FTW_F || info->st_size > MAX_BYTES) return 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    uint8_t *data = malloc((size_t)info->st_size + 1);
    const size_t size = data != NULL ? fread(data, 1, (size_t)info->st_size, file) : 0;
    fclose(file);
    uint8_t *exact = malloc(size > 0 ? size : 1); /* exactly as large, so that a read past the end is seen */
    if (data != NULL && exact != NULL) {
        for (size_t i = 0; i < size; i++) exact[i] = data[i];
        LLVMFuzzerTestOneInput(exact, size);
        replayed++;
    }
    free(exact);
    free(data);
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) nftw(argv[i], replay, 16, FTW_PHYS);
    printf("%ld files replayed\n", replayed);
    return 0;
}
