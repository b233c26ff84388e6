# MLIR and LLVM 22. Sets the interface target `taylor_mlir` (include folders; libMLIR.so and libLLVM.so, or their archives
# for programs with the property TAYLOR_LLVM_ARCHIVES) and the function `taylor_tablegen` for generated files.
# MLIR's version file takes no bare major version; so it is compared here.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir NO_DEFAULT_PATH)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "expected MLIR 22, but got ${LLVM_VERSION} in ${MLIR_DIR}; pass -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
list(GET MLIR_INCLUDE_DIRS 0 MLIR_INCLUDE_DIR)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(taylor_mlir INTERFACE)
target_include_directories(taylor_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(TAYLOR_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(taylor_mlir INTERFACE ${TAYLOR_LLVM_DEFINITIONS})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(taylor_mlir INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
if(NOT LLVM_ENABLE_ASSERTIONS)
  # Builds with assertions of our own; release builds need no header before the others, and keep their command lines.
  target_compile_options(taylor_mlir INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Release,MinSizeRel>>>:-include${CMAKE_SOURCE_DIR}/cmake/LibraryStatistics.h>)
endif()

# With archives a program starts in 8 ms instead of 30: the dynamic linker has two large libraries less to relocate.
# Builds with assertions keep the libraries, which link in a second; so do those with sanitizers, always.
find_library(TAYLOR_ZLIB libz.a)
find_library(TAYLOR_ZSTD libzstd.a)
set(taylor_missing "")
foreach(archive libLLVMCore.a libMLIRIR.a)
  if(NOT EXISTS ${LLVM_LIBRARY_DIR}/${archive})
    list(APPEND taylor_missing ${LLVM_LIBRARY_DIR}/${archive})
  endif()
endforeach()
foreach(library TAYLOR_ZLIB TAYLOR_ZSTD)
  if(NOT ${library})
    list(APPEND taylor_missing ${library})
  endif()
endforeach()
string(TOLOWER "${CMAKE_BUILD_TYPE}" taylor_build_type)
if(taylor_build_type STREQUAL "release" AND NOT taylor_missing)
  set(taylor_static ON)
else()
  set(taylor_static OFF)
endif()
option(TAYLOR_STATIC "Link LLVM and MLIR into taylorc, taylor-run and taylor-opt" ${taylor_static})
if(TAYLOR_SANITIZE)
  set(TAYLOR_STATIC OFF)
endif()
if(TAYLOR_STATIC AND taylor_missing)
  message(FATAL_ERROR "requires ${taylor_missing} for TAYLOR_STATIC; install llvm-22-dev, libmlir-22-dev, zlib1g-dev and "
                      "libzstd-dev, or pass -DTAYLOR_STATIC=OFF")
endif()
# Artifacts are linked in the compiler's process where lld is there as a library; else by a linker of the machine.
set(taylor_lld OFF)
if(TAYLOR_STATIC AND EXISTS ${LLVM_LIBRARY_DIR}/liblldELF.a AND EXISTS ${MLIR_INCLUDE_DIR}/lld/Common/Driver.h)
  set(taylor_lld ON)
endif()
option(TAYLOR_LLD "Link lld into the compiler, which then needs no linker where it runs" ${taylor_lld})
if(TAYLOR_LLD AND NOT taylor_lld)
  message(FATAL_ERROR "requires ${LLVM_LIBRARY_DIR}/liblldELF.a and TAYLOR_STATIC for TAYLOR_LLD; install liblld-22-dev, "
                      "or pass -DTAYLOR_LLD=OFF")
endif()
if(TAYLOR_STATIC)
  file(GLOB taylor_mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER taylor_mlir_archives EXCLUDE REGEX "libMLIRCAPI")
  add_library(taylor_mlir_archives INTERFACE)
  add_library(taylor_old_glibc STATIC ${CMAKE_SOURCE_DIR}/codegen/tools/OldGlibc.c)
  target_link_libraries(taylor_mlir_archives INTERFACE
    "$<LINK_GROUP:RESCAN,${taylor_mlir_archives},${TAYLOR_ZLIB},${TAYLOR_ZSTD}>" taylor_old_glibc ${CMAKE_DL_LIBS})
  # These programs are the wheel's: of a machine they need its libc and libgcc_s alone.
  target_link_options(taylor_mlir_archives INTERFACE -Wl,--gc-sections -static-libstdc++)
  set(archives $<BOOL:$<TARGET_PROPERTY:TAYLOR_LLVM_ARCHIVES>>)
  target_link_libraries(taylor_mlir INTERFACE
    $<${archives}:taylor_mlir_archives> $<$<NOT:${archives}>:MLIR> $<$<NOT:${archives}>:LLVM>)
else()
  target_link_libraries(taylor_mlir INTERFACE MLIR LLVM)
endif()
if(TAYLOR_LLD)
  add_library(taylor_lld INTERFACE)
  # The group of archives has both compressions already; ld would put them before it.
  target_link_libraries(taylor_lld INTERFACE
    ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a taylor_mlir
    $<$<NOT:${archives}>:${TAYLOR_ZLIB}> $<$<NOT:${archives}>:${TAYLOR_ZSTD}>)
endif()

# taylor_tablegen(TARGET FILE.td  -gen-op-decls OUT.h.inc  -gen-op-defs OUT.cpp.inc ...)
#   Extra generator options may be joined to the generator with commas: "-gen-dialect-decls,-dialect=taylor".
function(taylor_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  # mlir_tablegen adds to this list. Files of another folder's target have no rule in this one's Makefile.
  set(TABLEGEN_OUTPUT "")
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args generator output)
    string(REPLACE "," ";" generator "${generator}")
    if("-gen-pass-decls" IN_LIST generator)
      mlir_tablegen(${output}.in ${generator} -I${CMAKE_SOURCE_DIR} -I${MLIR_INCLUDE_DIR})
      set(made ${CMAKE_CURRENT_BINARY_DIR}/${output})
      add_custom_command(OUTPUT ${made}
        COMMAND ${CMAKE_COMMAND} -DINPUT=${made}.in -DOUTPUT=${made} -P ${CMAKE_SOURCE_DIR}/cmake/PassStatistics.cmake
        DEPENDS ${made}.in ${CMAKE_SOURCE_DIR}/cmake/PassStatistics.cmake VERBATIM)
      list(APPEND TABLEGEN_OUTPUT ${made})
    else()
      mlir_tablegen(${output} ${generator} -I${CMAKE_SOURCE_DIR} -I${MLIR_INCLUDE_DIR})
    endif()
  endwhile()
  add_custom_target(${target} DEPENDS ${TABLEGEN_OUTPUT})
endfunction()
