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
  # Builds with assertions of our own; release builds need no header in front, and keep their command lines.
  target_compile_options(taylor_mlir INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Release,MinSizeRel>>>:-include${CMAKE_SOURCE_DIR}/cmake/LibraryStatistics.h>)
endif()

# With archives a program starts in 8 ms instead of 30: the dynamic linker has two large libraries less to relocate.
# Builds with assertions keep the libraries, which link in a second.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TAYLOR_SANITIZE AND EXISTS ${LLVM_LIBRARY_DIR}/libLLVMCore.a)
  set(taylor_have_archives ON)
else()
  set(taylor_have_archives OFF)
endif()
option(TAYLOR_STATIC "Link LLVM and MLIR into taylorc, taylor-run and taylor-opt" ${taylor_have_archives})
if(TAYLOR_STATIC)
  file(GLOB taylor_mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER taylor_mlir_archives EXCLUDE REGEX "libMLIRCAPI")
  find_package(ZLIB REQUIRED)
  find_library(TAYLOR_ZSTD zstd REQUIRED)
  add_library(taylor_mlir_archives INTERFACE)
  target_link_libraries(taylor_mlir_archives INTERFACE
    "$<LINK_GROUP:RESCAN,${taylor_mlir_archives}>" ZLIB::ZLIB ${TAYLOR_ZSTD} ${CMAKE_DL_LIBS})
  target_link_options(taylor_mlir_archives INTERFACE -Wl,--gc-sections)
  set(archives $<BOOL:$<TARGET_PROPERTY:TAYLOR_LLVM_ARCHIVES>>)
  target_link_libraries(taylor_mlir INTERFACE
    $<${archives}:taylor_mlir_archives> $<$<NOT:${archives}>:MLIR> $<$<NOT:${archives}>:LLVM>)
else()
  target_link_libraries(taylor_mlir INTERFACE MLIR LLVM)
endif()

# taylor_tablegen(TARGET FILE.td  -gen-op-decls OUT.h.inc  -gen-op-defs OUT.cpp.inc ...)
#   Extra generator options may be joined to the generator with commas: "-gen-dialect-decls,-dialect=taylor".
function(taylor_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(args ${ARGN})
  while(args)
    list(POP_FRONT args generator output)
    string(REPLACE "," ";" generator "${generator}")
    mlir_tablegen(${output} ${generator} -I${CMAKE_SOURCE_DIR} -I${MLIR_INCLUDE_DIR})
  endwhile()
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
  add_custom_target(${target} DEPENDS ${TABLEGEN_OUTPUT})
endfunction()
