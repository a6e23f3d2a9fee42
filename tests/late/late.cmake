# The runtime of the GPU's backend (memory, copies, marks) against a CUDA runtime of the tests' own that does everything
# as late as it may, and fails. Needs CUDA's headers, but no GPU.
if(NOT MOTE_CUDA_FOUND OR NOT CMAKE_CXX_COMPILER)
  return()
endif()
set(late_sources "")
foreach(part device copies devices stage_timers memory)
  list(APPEND late_sources ${PROJECT_SOURCE_DIR}/src/device/cuda/cuda_${part}.cu)
endforeach()
set_source_files_properties(${late_sources} PROPERTIES LANGUAGE CXX)
file(GLOB cuda_host_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/device/cuda/*.c)
list(APPEND late_sources ${cuda_host_sources} ${PROJECT_SOURCE_DIR}/src/backends.c)
add_library(mote_late OBJECT ${late_sources} late/late_runtime.cpp late/late_ops.cpp)
target_include_directories(mote_late PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                           ${CUDAToolkit_INCLUDE_DIRS})
target_compile_definitions(mote_late PRIVATE MOTE_HAS_CUDA)
target_link_libraries(mote_late PUBLIC OpenMP::OpenMP_C)
target_compile_options(mote_late PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>")

add_executable(late_runtime_test late/late_runtime_test.c)
set(late_support ${parity_support})
list(FILTER late_support EXCLUDE REGEX "/order_") # it needs kernels, and these tests have none
add_executable(cuda_memory_test_late parity/cuda_memory_test.c ${late_support})
foreach(name late_runtime_test cuda_memory_test_late)
  target_link_libraries(${name} PRIVATE mote_reference mote_late mote_objects ${CMOCKA_LIBRARY})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS parity)
endforeach()
