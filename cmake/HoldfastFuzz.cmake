# One libFuzzer program a file: fuzz/x_fuzz.cpp -> fuzz/x_fuzz, whose corpus lies
# in fuzz/corpus/x. A fuzz/CMakeLists.txt, where there is one, says otherwise.
if(EXISTS ${PROJECT_SOURCE_DIR}/fuzz/CMakeLists.txt)
  add_subdirectory(fuzz)
else()
  file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp)
  foreach(source IN LISTS fuzzers)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    holdfast_target(${name})
    target_link_libraries(${name} PRIVATE holdfast_core)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  endforeach()
endif()
