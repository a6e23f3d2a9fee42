# parity/*_test.c: CPU = GPU. NAME_emulated runs the kernels on the CPU (emulator/), blocks and warps in all orders;
# NAME_gpu, where there is nvcc, on the GPU (ctest -L gpu, or gpu.sh), and is skipped where none answers.
file(GLOB parity_sources CONFIGURE_DEPENDS parity/*_test.c)
file(GLOB parity_support CONFIGURE_DEPENDS parity/*_support*.c)

# All is compiled once, and linked once for a GPU and once for the emulated one.
function(mote_parity_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE mote_reference)
endfunction()

mote_parity_objects(mote_parity_support ${parity_support})
foreach(source ${parity_sources})
  get_filename_component(name ${source} NAME_WE)
  mote_parity_objects(${name}_object ${source})
endforeach()

# mote_parity_program(name source library…)
function(mote_parity_program name source)
  add_executable(${name} ${source} $<TARGET_OBJECTS:mote_parity_support>)
  target_link_libraries(${name} PRIVATE mote_reference ${ARGN} ${CMOCKA_LIBRARY})
endfunction()

function(mote_parity_case name program labels)
  add_test(NAME ${name} COMMAND ${program} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${test_seconds} LABELS "${labels}" SKIP_RETURN_CODE 77)
endfunction()

if(MOTE_CUDA_FOUND)
  foreach(source ${parity_sources})
    get_filename_component(name ${source} NAME_WE)
    mote_parity_program(${name}_gpu $<TARGET_OBJECTS:${name}_object> mote_internal)
    mote_parity_case(${name}_gpu ${name}_gpu "parity;gpu")
    set_tests_properties(${name}_gpu PROPERTIES RESOURCE_LOCK gpu)
  endforeach()
endif()

include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER OR MOTE_SANITIZE MATCHES "thread")
  message(STATUS "mote: no C++ compiler, or threads are watched: kernels are not tested on the CPU")
  return()
endif()
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(NOT MOTE_EMULATOR)
  return()
endif()

# The library with the emulated GPU, as objects: tests look inside.
file(GLOB emulator_sources CONFIGURE_DEPENDS emulator/*.cpp)
list(FILTER emulator_sources EXCLUDE REGEX "_test[.]cpp$")
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu)
list(FILTER kernel_sources EXCLUDE REGEX "/src/device/") # the runtime of a true GPU
set_source_files_properties(${kernel_sources} PROPERTIES LANGUAGE CXX)
if(MOTE_SANITIZE)
  # Many variants, which take longest to make; their tests are hardly slower without.
  foreach(source normals/normals_small_k knn/cuda/search/knn_brute knn/cuda/search/knn_small_k knn/cuda/search/knn_large_k
                 photon/gather/photon_gather_select render/splat/render_splat)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${source}_cuda.cu PROPERTIES COMPILE_OPTIONS -O0)
  endforeach()
endif()
if(MOTE_SANITIZE MATCHES "address")
  # Who takes turns is the tests' own, and half of what they run: kernels are looked into, and stacks told of.
  set_source_files_properties(emulator/emulator.cpp PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=all")
  set_source_files_properties(emulator/fiber.cpp PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=undefined")
endif()
file(GLOB cuda_host_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/device/cuda/*.c)
add_library(mote_emulated OBJECT ${emulator_sources} ${kernel_sources} ${cuda_host_sources} ${PROJECT_SOURCE_DIR}/src/backends.c)
target_include_directories(mote_emulated PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(mote_emulated PRIVATE MOTE_HAS_CUDA)
target_include_directories(mote_emulated BEFORE PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/emulator/include) # <cuda_runtime.h>
target_link_libraries(mote_emulated PUBLIC OpenMP::OpenMP_C)
target_link_options(mote_emulated PUBLIC -Wl,-T,${CMAKE_CURRENT_SOURCE_DIR}/emulator/shared.ld)
target_compile_options(mote_emulated PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wno-unknown-pragmas;-ffp-contract=off>")
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Slower is not wrong; and functions that launch bounds call are not called where these are nothing.
  target_compile_options(mote_emulated PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed;-Wno-unused-function>")
endif()
if(MOTE_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # __shared__ variables stand in a section of their own, where only this puts red zones between them.
  target_compile_options(mote_emulated PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize-sections=cuda.shared>")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(mote_emulated PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v3>")
endif()
if(MOTE_WERROR)
  target_compile_options(mote_emulated PUBLIC "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()

foreach(source ${parity_sources})
  get_filename_component(name ${source} NAME_WE)
  mote_parity_program(${name}_emulated $<TARGET_OBJECTS:${name}_object> mote_emulated mote_objects)
  mote_parity_case(${name}_emulated ${name}_emulated "parity;emulated")
endforeach()

file(GLOB emulator_tests CONFIGURE_DEPENDS emulator/*_test.cpp)
foreach(source ${emulator_tests})
  get_filename_component(name ${source} NAME_WE)
  mote_parity_program(${name} ${source} mote_emulated mote_objects)
  mote_parity_case(${name} ${name} "parity;emulated")
endforeach()

# The command with the emulated GPU.
add_executable(mote_command_emulated ${PROJECT_SOURCE_DIR}/cli/start.c $<TARGET_OBJECTS:mote_command_objects>)
target_include_directories(mote_command_emulated PRIVATE ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(mote_command_emulated PRIVATE mote_emulated mote_objects ${MOTE_CLI_DEPENDENCIES})
add_test(NAME cli_emulated COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.sh $<TARGET_FILE:mote_command_emulated>
                                   ${CMAKE_CURRENT_SOURCE_DIR}/emulator/command.test)
# Octrees, neighbours and normals have the checksums that they have without a GPU.
add_test(NAME golden_emulated COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/golden/golden.sh $<TARGET_FILE:mote_command_emulated>)
set(golden_environment MOTE_GOLDEN_DEVICE=cuda)
if(MOTE_SANITIZE) # what takes half of the time; cli_emulated and parity tests watch the same kernels on fewer points
  list(APPEND golden_environment "MOTE_GOLDEN_WITHOUT=normals-radius|render-(colors|octree|orbit|surface)")
endif()
set_tests_properties(golden_emulated PROPERTIES LABELS "golden;parity" TIMEOUT ${test_seconds}
                     ENVIRONMENT "${golden_environment}")
set_tests_properties(cli_emulated PROPERTIES LABELS "cli;parity" SKIP_RETURN_CODE 77 TIMEOUT ${test_seconds})
