# The wheel taylor_attention: what it has (component `wheel`, under the package's folder), and target `wheel`, which packs what
# is built here into build/wheel/*.whl. `pip wheel . --no-build-isolation --no-deps` installs the
# same component (pyproject.toml).
if(NOT TARGET taylorc OR NOT TARGET taylor_stable)
  return()
endif()
set(in_wheel COMPONENT wheel EXCLUDE_FROM_ALL)
install(TARGETS taylorc taylor-run RUNTIME DESTINATION bin ${in_wheel})
install(TARGETS taylor_stable LIBRARY DESTINATION lib ${in_wheel})
install(DIRECTORY runtime/python/taylor_attention/ DESTINATION . ${in_wheel}
  FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
install(DIRECTORY examples/specs/ DESTINATION specs ${in_wheel} FILES_MATCHING PATTERN *.mlir)

include(TaylorPython)
add_custom_target(wheel
  COMMAND ${TAYLOR_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/make_wheel.py --build=${CMAKE_BINARY_DIR} --cmake=${CMAKE_COMMAND}
  DEPENDS taylorc taylor-run taylor_stable USES_TERMINAL VERBATIM COMMENT "build/wheel/taylor_attention-${PROJECT_VERSION}-*.whl")
