# `cmake --install build --prefix P`: programs, the runtime with its headers, the torch operator, specifications, and what
# find_package(Taylor) reads. The tree may be moved: its own libraries are found relative to the programs. libLLVM, libMLIR and libtorch are
# not ours; they are found where this build found them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(taylor PROPERTIES EXPORT_NAME runtime)
target_include_directories(taylor INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
add_library(Taylor::runtime ALIAS taylor)
install(TARGETS taylor EXPORT TaylorTargets LIBRARY DESTINATION lib)
install(EXPORT TaylorTargets NAMESPACE Taylor:: DESTINATION lib/cmake/Taylor)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TaylorConfig.cmake.in ${CMAKE_BINARY_DIR}/TaylorConfig.cmake
  INSTALL_DESTINATION lib/cmake/Taylor NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TaylorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TaylorConfig.cmake ${CMAKE_BINARY_DIR}/TaylorConfigVersion.cmake DESTINATION lib/cmake/Taylor)

install(DIRECTORY examples/specs examples/experiments examples/python DESTINATION share/taylor OPTIONAL PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md runtime/MANIFEST.md DESTINATION share/doc/taylor OPTIONAL)
