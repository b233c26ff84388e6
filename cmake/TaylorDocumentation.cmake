# Target `docs` (part of `all`: it takes a second): build/docs/*.md, from the descriptions in the .td files. One page per dialect with its ops,
# types and attributes, one per file of passes. New .td files are found by themselves.
if(NOT TAYLOR_BUILD_COMPILER)
  return()
endif()
set(taylor_docs ${CMAKE_BINARY_DIR}/docs)
set(taylor_pages)

# taylor_document(PAGE FILE.td OPTION...)
function(taylor_document page td)
  # Any description may have changed, in this file or in one that it includes.
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/dialect/*.td ${CMAKE_SOURCE_DIR}/passes/*.td ${CMAKE_SOURCE_DIR}/codegen/*.td)
  add_custom_command(OUTPUT ${taylor_docs}/${page}.md
    COMMAND ${CMAKE_COMMAND} -E make_directory ${taylor_docs}
    COMMAND ${MLIR_TABLEGEN_EXE} ${ARGN} -I ${MLIR_INCLUDE_DIRS} -I ${CMAKE_SOURCE_DIR} -I ${CMAKE_SOURCE_DIR}/dialect ${td} -o ${taylor_docs}/${page}.md
    DEPENDS ${all} VERBATIM COMMENT "docs/${page}.md")
  set(taylor_pages ${taylor_pages} ${taylor_docs}/${page}.md PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS dialect/*.td passes/*.td codegen/*.td)
foreach(file ${files})
  file(READ ${file} text)
  if(text MATCHES "[ \n]: *Pass<|[ \n]: *InterfacePass<")
    string(REGEX REPLACE "\\.td$" "" page ${file})
    string(REPLACE "/" "-" page ${page})
    taylor_document(${page} ${CMAKE_SOURCE_DIR}/${file} -gen-pass-doc)
  elseif(text MATCHES "[ \n]: *Dialect *{")
    # The ops live beside the dialect, in the file that includes it.
    string(REGEX MATCH "let name = \"([a-z_]+)\"" match "${text}")
    set(name ${CMAKE_MATCH_1})
    get_filename_component(folder ${file} DIRECTORY)
    file(GLOB ops CONFIGURE_DEPENDS ${folder}/*Ops.td)
    list(LENGTH ops count)
    if(count EQUAL 0)
      set(ops ${CMAKE_SOURCE_DIR}/${file})
    endif()
    list(GET ops 0 ops)
    taylor_document(dialect-${name} ${ops} -gen-dialect-doc -dialect=${name})
  endif()
endforeach()
# A page whose .td has moved would stay in this build, and links to it would hold here alone.
file(GLOB taylor_stale ${taylor_docs}/*.md)
list(REMOVE_ITEM taylor_stale ${taylor_pages})
if(taylor_stale)
  file(REMOVE ${taylor_stale})
endif()
add_custom_target(docs ALL DEPENDS ${taylor_pages})
