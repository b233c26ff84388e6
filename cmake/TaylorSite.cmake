# Target `site`: build/site, the pages that this project has, as HTML (cmake/site/README.md). It needs Sphinx, which
# make_site.py looks for, and every program that a page shows.
if(NOT TARGET taylorc OR NOT TARGET taylor_stable OR NOT TARGET taylor-train)
  return()
endif()
include(TaylorPython)
add_custom_target(site
  COMMAND ${TAYLOR_PYTHON} ${CMAKE_SOURCE_DIR}/cmake/make_site.py --build=${CMAKE_BINARY_DIR}
  DEPENDS docs taylorc taylor-train taylor_stable USES_TERMINAL VERBATIM COMMENT "build/site/index.html")
