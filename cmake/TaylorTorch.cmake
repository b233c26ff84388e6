# libtorch from the torch 2.11 wheel, without TorchConfig.cmake: that one insists on a CUDA toolkit for a CUDA wheel,
# although nothing here needs one. Sets the interface target `taylor_torch`.
if(NOT TAYLOR_TORCH_DIR)
  if(SKBUILD AND Python_EXECUTABLE) # pip's own Python, which need not be the PATH's
    set(TAYLOR_PYTHON ${Python_EXECUTABLE} CACHE FILEPATH "Python with torch")
  endif()
  find_program(TAYLOR_PYTHON NAMES python3 PATHS ${CMAKE_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
  find_program(TAYLOR_PYTHON NAMES python3)
  execute_process(
    COMMAND ${TAYLOR_PYTHON} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE TAYLOR_TORCH_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS ${TAYLOR_TORCH_DIR}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "requires libtorch 2.11, but no torch wheel was found; run ./quickstart.sh, or pass "
                      "-DTAYLOR_TORCH_DIR=<site-packages>/torch, or -DTAYLOR_BUILD_TORCH=OFF")
endif()
set(TAYLOR_TORCH_DIR ${TAYLOR_TORCH_DIR} CACHE PATH "Folder of the torch wheel (holds lib/libtorch_cpu.so)")
message(STATUS "libtorch: ${TAYLOR_TORCH_DIR}")

add_library(taylor_torch INTERFACE)
target_include_directories(taylor_torch SYSTEM INTERFACE
  ${TAYLOR_TORCH_DIR}/include ${TAYLOR_TORCH_DIR}/include/torch/csrc/api/include)
target_compile_definitions(taylor_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
target_link_libraries(taylor_torch INTERFACE
  ${TAYLOR_TORCH_DIR}/lib/libtorch_cpu.so ${TAYLOR_TORCH_DIR}/lib/libc10.so)
target_link_options(taylor_torch INTERFACE -Wl,-rpath,${TAYLOR_TORCH_DIR}/lib)
