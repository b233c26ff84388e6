# TAYLOR_PYTHON: the interpreter that has torch and lit. The wheel named by TAYLOR_TORCH_DIR decides where it is given,
# so that tests and programs never meet two different torch versions.
if(NOT TAYLOR_PYTHON AND TAYLOR_TORCH_DIR)
  get_filename_component(_taylor_venv "${TAYLOR_TORCH_DIR}/../../../.." ABSOLUTE)
  find_program(TAYLOR_PYTHON NAMES python3 PATHS "${_taylor_venv}/bin" NO_DEFAULT_PATH)
endif()
find_program(TAYLOR_PYTHON NAMES python3 PATHS ${CMAKE_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
find_program(TAYLOR_PYTHON NAMES python3 REQUIRED)
