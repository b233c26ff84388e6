# taylor_arrow: Arrow and its Parquet reader from the pyarrow wheel, where TAYLOR_PYTHON has one; without it Parquet files are refused.
# The wheel has versioned libraries alone, and no package for CMake.
option(TAYLOR_ARROW "Read Parquet files with Arrow, where the pyarrow wheel is installed" ON)
set(TAYLOR_ARROW_FOUND OFF CACHE INTERNAL "Whether this build reads Parquet files")
if(TAYLOR_ARROW)
  include(TaylorPython)
  execute_process(
    COMMAND ${TAYLOR_PYTHON} -c "import importlib.util as u; print(u.find_spec('pyarrow').submodule_search_locations[0])"
    OUTPUT_VARIABLE taylor_arrow_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(GLOB taylor_arrow_library ${taylor_arrow_dir}/libarrow.so.*00)
  file(GLOB taylor_parquet_library ${taylor_arrow_dir}/libparquet.so.*00)
  list(LENGTH taylor_arrow_library taylor_arrow_count)
  if(taylor_arrow_count EQUAL 1 AND taylor_parquet_library AND EXISTS ${taylor_arrow_dir}/include/parquet/arrow/reader.h)
    message(STATUS "Arrow: ${taylor_arrow_library}")
    set(TAYLOR_ARROW_FOUND ON CACHE INTERNAL "Whether this build reads Parquet files")
    add_library(taylor_arrow INTERFACE)
    target_include_directories(taylor_arrow SYSTEM INTERFACE ${taylor_arrow_dir}/include)
    target_compile_definitions(taylor_arrow INTERFACE TAYLOR_ARROW)
    target_link_libraries(taylor_arrow INTERFACE ${taylor_parquet_library} ${taylor_arrow_library})
    target_link_options(taylor_arrow INTERFACE -Wl,-rpath,${taylor_arrow_dir})
  else()
    message(STATUS "Arrow: none (the pyarrow wheel has it); taylor-train prepare will refuse Parquet files")
  endif()
endif()
