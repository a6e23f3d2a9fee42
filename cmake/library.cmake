# The library, shared and static. Both show what the headers declare and nothing else: a program may have functions of
# any other name, and no later version is bound to a name that was never promised.

# ---- the names that headers declare
file(GLOB public_headers CONFIGURE_DEPENDS include/mote/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_headers})
set(public_names "")
foreach(header ${public_headers})
  file(READ ${header} text)
  string(REGEX MATCHALL "MOTE_API [^;(]*[ *]mote_[a-z0-9_]+\\(" declarations "${text}")
  foreach(declaration ${declarations})
    string(REGEX REPLACE ".*[ *](mote_[a-z0-9_]+)\\($" "\\1" name "${declaration}")
    list(APPEND public_names ${name})
  endforeach()
endforeach()
list(SORT public_names)
list(JOIN public_names "\n" public_lines)
list(JOIN public_names ";\n    " public_script)
set(symbols_file ${CMAKE_CURRENT_BINARY_DIR}/mote.symbols) # for objcopy
set(script_file ${CMAKE_CURRENT_BINARY_DIR}/mote.map)      # for the linker
file(CONFIGURE OUTPUT ${symbols_file} CONTENT "${public_lines}\n" @ONLY)
file(CONFIGURE OUTPUT ${script_file} CONTENT "{\nglobal:\n    ${public_script};\nlocal:\n    *;\n};\n" @ONLY)

# Names in objects that wait for optimization at link time cannot be made local.
set_target_properties(mote_objects mote_cuda PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
if("${CMAKE_C_FLAGS}" MATCHES "-flto")
  target_compile_options(mote_objects PRIVATE -fno-lto)
endif()

# ---- what tests link: all names as they are
set(tested_kind STATIC)
if(MOTE_WHOLE)
  set(tested_kind SHARED)
endif()
add_library(mote_internal ${tested_kind} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:mote_objects> $<TARGET_OBJECTS:mote_cuda>)
target_include_directories(mote_internal PUBLIC include)
target_link_libraries(mote_internal PUBLIC OpenMP::OpenMP_C Threads::Threads m ${MOTE_LIBRARY_DEPENDENCIES})
if(MOTE_CUDA_FOUND)
  target_link_libraries(mote_internal PUBLIC CUDA::cudart_static)
endif()
if(MOTE_WHOLE)
  set_target_properties(mote_internal PROPERTIES OUTPUT_NAME mote_whole)
endif()

# ---- shared: a version script hides also what the CUDA runtime and templates of C++ bring along
add_library(mote_shared SHARED $<TARGET_OBJECTS:mote_objects> $<TARGET_OBJECTS:mote_cuda>)
target_link_libraries(mote_shared PRIVATE OpenMP::OpenMP_C Threads::Threads m ${MOTE_LIBRARY_DEPENDENCIES})
target_link_options(mote_shared PRIVATE LINKER:--version-script=${script_file} LINKER:--exclude-libs,ALL)
set_target_properties(mote_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                             LINK_DEPENDS ${script_file})

# For python/bundle.py, which links some of them anew.
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/mote_objects.txt
     CONTENT "$<JOIN:$<TARGET_OBJECTS:mote_objects>,\n>\n$<JOIN:$<TARGET_OBJECTS:mote_cuda>,\n>\n")

# ---- static: one object, in which all other names are local to it. Groups of sections that a linker would merge with
# those of the program become sections of the object's own, and common symbols (locks of OpenMP) get their place in it: only then are they local.
set(united_object ${CMAKE_CURRENT_BINARY_DIR}/mote_united.o)
set(static_object ${CMAKE_CURRENT_BINARY_DIR}/mote_static.o)
add_custom_command(
  OUTPUT ${static_object}
  BYPRODUCTS ${united_object}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -Wl,--force-group-allocation,-d -o ${united_object}
          $<TARGET_OBJECTS:mote_objects> $<TARGET_OBJECTS:mote_cuda>
  COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${symbols_file} ${united_object} ${static_object}
  DEPENDS mote_objects mote_cuda $<TARGET_OBJECTS:mote_objects> $<TARGET_OBJECTS:mote_cuda> ${symbols_file}
  COMMENT "Making all names local that no header declares"
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(mote_static STATIC ${static_object})
set_source_files_properties(${static_object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(mote_static PROPERTIES LINKER_LANGUAGE C)

# What a program links beside it: in this build by paths, where it is installed by names, see moteConfig.cmake.in.
set(static_names ${OpenMP_C_LIB_NAMES} pthread m)
list(REMOVE_DUPLICATES static_names)
set(installed_dependencies ${static_names})
foreach(name ${MOTE_LIBRARY_NAMES})
  list(APPEND installed_dependencies mote::${name})
endforeach()
set(built_dependencies ${OpenMP_C_LIBRARIES} pthread m ${MOTE_LIBRARY_DEPENDENCIES})
if(MOTE_CUDA_FOUND)
  list(APPEND built_dependencies CUDA::cudart_static stdc++)
  list(APPEND installed_dependencies CUDA::cudart_static stdc++)
  target_link_libraries(mote_shared PRIVATE CUDA::cudart_static)
endif()
target_link_libraries(mote_static INTERFACE "$<BUILD_INTERFACE:${built_dependencies}>"
                                            "$<INSTALL_INTERFACE:${installed_dependencies}>")

foreach(kind shared static)
  set_target_properties(mote_${kind} PROPERTIES OUTPUT_NAME mote EXPORT_NAME mote_${kind})
  target_include_directories(mote_${kind} INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  add_library(mote::mote_${kind} ALIAS mote_${kind})
endforeach()
# mote::mote is the shared library, but for projects that say they want none.
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  add_library(mote::mote ALIAS mote_static)
else()
  add_library(mote::mote ALIAS mote_shared)
endif()
