/* A library beside those that are to run with an older glibc (bundle.py): what glibc has as symbols only since 2.33,
   and in libraries of Debian is named so. Before, headers turned calls of stat into calls of __xstat, which every glibc
   for x86-64 has kept; and random numbers for std::random_device came from elsewhere. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>

#define STAT_VERSION 1 /* of struct stat, on x86-64 */

int __xstat(int version, const char *path, struct stat *facts);
int __lxstat(int version, const char *path, struct stat *facts);
int __fxstat(int version, int file, struct stat *facts);
int __fxstatat(int version, int folder, const char *path, struct stat *facts, int flags);

/* The linker names no old symbol by itself. */
__asm__(".symver __xstat, __xstat@GLIBC_2.2.5");
__asm__(".symver __lxstat, __lxstat@GLIBC_2.2.5");
__asm__(".symver __fxstat, __fxstat@GLIBC_2.2.5");
__asm__(".symver __fxstatat, __fxstatat@GLIBC_2.4");

extern char __libc_single_threaded;
char __libc_single_threaded = 0; /* there may be other threads: never wrong */

int stat(const char *restrict path, struct stat *restrict facts) { return __xstat(STAT_VERSION, path, facts); }
int lstat(const char *restrict path, struct stat *restrict facts) { return __lxstat(STAT_VERSION, path, facts); }
int fstat(int file, struct stat *facts) { return __fxstat(STAT_VERSION, file, facts); }
int fstatat(int folder, const char *restrict path, struct stat *restrict facts, int flags) {
    return __fxstatat(STAT_VERSION, folder, path, facts, flags);
}

uint32_t arc4random(void);
uint32_t arc4random(void) {
    uint32_t value;
    while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {}
    return value;
}
int fstat64(int file, struct stat64 *facts) {
    return __fxstat(STAT_VERSION, file, (struct stat *)facts);
} /* the same */
