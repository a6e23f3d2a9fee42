# Builds for AArch64 on another machine, with Debian's compiler and the libraries of a folder; what is built runs under
# qemu-user. tests/programs/arm64.sh makes the folder and does both.
#   cmake -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DMOTE_ARM64_ROOT=FOLDER …
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(MOTE_ARM64_ROOT "" CACHE PATH "Libraries and headers of Debian for arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MOTE_ARM64_ROOT)
set(CMAKE_SYSROOT ${MOTE_ARM64_ROOT})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${MOTE_ARM64_ROOT})
