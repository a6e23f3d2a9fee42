/* For wheels (wheel.py): functions that glibc has as symbols only since 2.33. Before, headers turned calls of them into
   calls of these, which every glibc for x86-64 has kept. The linker sends calls of NAME to __wrap_NAME. */
#define _GNU_SOURCE
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

int __wrap_stat(const char *path, struct stat *facts);
int __wrap_lstat(const char *path, struct stat *facts);
int __wrap_fstat(int file, struct stat *facts);
int __wrap_fstatat(int folder, const char *path, struct stat *facts, int flags);

int __wrap_stat(const char *path, struct stat *facts) { return __xstat(STAT_VERSION, path, facts); }
int __wrap_lstat(const char *path, struct stat *facts) { return __lxstat(STAT_VERSION, path, facts); }
int __wrap_fstat(int file, struct stat *facts) { return __fxstat(STAT_VERSION, file, facts); }
int __wrap_fstatat(int folder, const char *path, struct stat *facts, int flags) {
    return __fxstatat(STAT_VERSION, folder, path, facts, flags);
}
