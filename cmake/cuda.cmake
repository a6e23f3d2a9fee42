# The CUDA part: compiled wherever nvcc is, the runtime linked statically so that the binary starts without a driver.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS src/*.cu)
add_library(mote_cuda OBJECT ${cuda_sources})
target_include_directories(mote_cuda PRIVATE include src)
# nvcc turns the host's -Wpedantic and friends into noise of its own; the shared headers are checked as C and C++ too.
target_compile_options(mote_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Xcompiler=-Wno-pedantic>)
