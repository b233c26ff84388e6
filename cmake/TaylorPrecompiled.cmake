# Precompiled headers: MLIR's and the dialects' for the compiler, ATen's for the trainer and the torch operator. A file of the
# compiler builds three times as fast with it. Each file still includes what it uses: the presets asan and fuzz build without.
option(TAYLOR_PRECOMPILE "Precompile the headers of MLIR and of ATen" ON)

# Programs and libraries then read one precompiled header: clang takes none that was made with -fPIC for -fPIE.
if(TAYLOR_PRECOMPILE)
  set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
endif()

# taylor_use_precompiled(TARGET): at the end of the configuration, by what it links. A folder whose targets take another header
# than most that link the same sets TAYLOR_PRECOMPILED to its name, or to "none".
function(taylor_use_precompiled target)
  set_property(GLOBAL APPEND PROPERTY TAYLOR_PRECOMPILED_TARGETS ${target})
  set_property(GLOBAL PROPERTY TAYLOR_PRECOMPILED_${target} "${TAYLOR_PRECOMPILED}")
endfunction()

# taylor_links(TARGET LIBRARY OUT): whether the target links the library, itself or through others.
function(taylor_links target library out)
  get_property(known GLOBAL PROPERTY TAYLOR_LINKS_${library}_${target})
  if("${known}" STREQUAL "")
    set(known FALSE)
    set_property(GLOBAL PROPERTY TAYLOR_LINKS_${library}_${target} FALSE)
    set(linked "")
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${target} ${property})
      if(libraries)
        list(APPEND linked ${libraries})
      endif()
    endforeach()
    list(REMOVE_DUPLICATES linked)
    foreach(next ${linked})
      if(next STREQUAL library)
        set(known TRUE)
      elseif(NOT known AND TARGET ${next})
        taylor_links(${next} ${library} known)
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY TAYLOR_LINKS_${library}_${target} ${known})
  endif()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

# taylor_precompile(NAME LIBRARY [DEPENDS ...]): cmake/PrecompiledNAME.h, for the targets that ask for NAME, and for those that ask
# for nothing and link the library.
function(taylor_precompile name library)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/cmake/Precompiled${name}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(Precompiled${name} OBJECT ${source})
  target_compile_options(Precompiled${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  target_link_libraries(Precompiled${name} PRIVATE ${library})
  # In brackets, so that what CMake writes names no folder.
  target_precompile_headers(Precompiled${name} PRIVATE <cmake/Precompiled${name}.h>)
  if(ARG_DEPENDS)
    add_dependencies(Precompiled${name} ${ARG_DEPENDS})
  endif()
  get_property(targets GLOBAL PROPERTY TAYLOR_PRECOMPILED_TARGETS)
  foreach(target ${targets})
    get_property(wanted GLOBAL PROPERTY TAYLOR_PRECOMPILED_${target})
    get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    taylor_links(${target} ${library} links)
    if(NOT reused AND (wanted STREQUAL name OR (links AND wanted STREQUAL "")))
      target_precompile_headers(${target} REUSE_FROM Precompiled${name})
    endif()
  endforeach()
endfunction()
