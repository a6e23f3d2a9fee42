# Tests that are programs or scripts: the command line, golden results; with MOTE_CHECKS the checks of the sources.
# Labels: cli golden programs check. ctest -L cli, ctest -LE check …
option(MOTE_CHECKS "Test also the sources: format, analyser, headers alone, sanitizers, the web page" OFF)

# ---- cli/*.test: scripts with the output that they expect
file(GLOB cli_scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*.test)
# What comes from others, and broken: in make check these run once, under the sanitizers, and all others once without.
set(watched_scripts full_disk printing salvage text view view_faults view_server)
foreach(script ${cli_scripts})
  get_filename_component(name ${script} NAME_WE)
  if(MOTE_SANITIZE AND NOT name IN_LIST watched_scripts)
    continue()
  endif()
  add_test(NAME cli_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.sh $<TARGET_FILE:mote_command> ${script})
  set(labels cli)
  if(name IN_LIST watched_scripts)
    list(APPEND labels watched)
  endif()
  set_tests_properties(cli_${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT 1200
                       ENVIRONMENT "MOTE_SHARED_DATA=${MOTE_SHARED_DATA}")
endforeach()

# ---- cli/*_test.c: parts of the command that need no command line
set(command_parts "")
foreach(part messages knn/knn_answer knn/knn_csv knn/knn_recall files/npy files/npz files/crc files/json large_memory machine_memory session
        progress options help text print paths stage)
  list(APPEND command_parts ${PROJECT_SOURCE_DIR}/cli/${part}.c)
endforeach()
add_library(mote_command_parts STATIC ${command_parts})
target_include_directories(mote_command_parts PUBLIC ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(mote_command_parts PUBLIC mote_internal)
file(GLOB cli_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*_test.c)
foreach(source ${cli_tests})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE mote_command_parts ${CMOCKA_LIBRARY})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS cli TIMEOUT 300)
endforeach()

# ---- golden/golden.csv: checksums of results, with other numbers of threads in each build
add_test(NAME golden COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/golden/golden.sh $<TARGET_FILE:mote_command>)
set(golden_threads "7 1")
if(MOTE_SANITIZE STREQUAL "thread")
  set(golden_threads 4)
elseif(MOTE_SANITIZE)
  set(golden_threads 2)
endif()
set_tests_properties(golden PROPERTIES LABELS golden TIMEOUT 600 ENVIRONMENT "MOTE_GOLDEN_THREADS=${golden_threads}")

# ---- programs/*.sh: the library as programs of others find it; sanitizers would be in the way. Those that make a package,
# or run with one, take long and are left to make check (label packages).
set(package_scripts cluster deb examples install python tarball wheel)
if(NOT MOTE_SANITIZE AND NOT MOTE_WHOLE)
  add_executable(shaped_file ${CMAKE_CURRENT_SOURCE_DIR}/programs/shaped_file.c) # of plan.sh
  target_link_libraries(shaped_file PRIVATE mote_reference mote_internal)
  file(GLOB program_scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/programs/*.sh)
  foreach(script ${program_scripts})
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME programs_${name} COMMAND ${script} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    set(labels programs)
    if(name IN_LIST package_scripts)
      list(APPEND labels packages)
    endif()
    set_tests_properties(programs_${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT 1200)
  endforeach()
endif()

# ---- check/*.sh: called with the source and build folders; exit code 77 is "skipped", with the reason printed
if(MOTE_CHECKS)
  file(GLOB check_scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/check/*.sh)
  foreach(script ${check_scripts})
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME check_${name} COMMAND ${script} ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(check_${name} PROPERTIES LABELS check SKIP_RETURN_CODE 77 TIMEOUT 3600
                         ENVIRONMENT "MOTE_SHARED_DATA=${MOTE_SHARED_DATA}")
  endforeach()
  # These use all cores but one, beside browsers, which often wait.
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR all_but_one "${cores} - 1")
  if(all_but_one LESS 1)
    set(all_but_one 1)
  endif()
  set_tests_properties(check_sanitizers check_clang check_tidy PROPERTIES PROCESSORS ${all_but_one})
endif()
