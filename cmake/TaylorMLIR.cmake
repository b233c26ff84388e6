# MLIR and LLVM 22 as shared libraries. Sets the interface target `taylor_mlir` (include folders and libMLIR.so,
# libLLVM.so) and the functions `taylor_tablegen` for generated files.
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
target_link_libraries(taylor_mlir INTERFACE MLIR LLVM)

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
