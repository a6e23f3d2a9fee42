# VERSION says the version; the macros of include/mote/version.h must say the same, so that a release cannot forget them.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS VERSION include/mote/version.h)
file(READ include/mote/version.h version_header)
foreach(part MAJOR MINOR PATCH)
  if(NOT version_header MATCHES "#define MOTE_VERSION_${part} ${PROJECT_VERSION_${part}}\n")
    message(FATAL_ERROR "mote: VERSION is ${MOTE_VERSION}, and MOTE_VERSION_${part} of include/mote/version.h is not "
                        "${PROJECT_VERSION_${part}}")
  endif()
endforeach()
