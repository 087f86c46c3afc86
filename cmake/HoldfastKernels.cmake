# The CPU kernels and what they stand on, with their tests, for a processor that a
# cross compiler builds for: no library but the compiler's own, and googletest from
# its sources. tools/neon_test.sh uses it.
set(HOLDFAST_GOOGLETEST /usr/src/googletest CACHE PATH "googletest's sources")

holdfast_sources(kernel_sources base env block codec rows plan kernels/cpu)
# What else those folders hold stands on other libraries, or on MLX.
list(FILTER kernel_sources EXCLUDE REGEX
  "(_primitive|base/(checksum|key_hash|root_key|sha256|zstd)|env/file_digest)\\.cpp$")
add_library(holdfast_kernels STATIC ${kernel_sources})
holdfast_target(holdfast_kernels)
target_link_libraries(holdfast_kernels PUBLIC Threads::Threads)
# By a link of our own: beside Highway lie headers of this machine.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${Highway_INCLUDE_DIR}/hwy ${PROJECT_BINARY_DIR}/include/hwy SYMBOLIC)
target_include_directories(holdfast_kernels SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/include)

set(INSTALL_GTEST OFF)
add_subdirectory(${HOLDFAST_GOOGLETEST} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
enable_testing()
foreach(name codec kernels recurrent)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cpp)
  # rapidcheck is built for this machine alone.
  foreach(source IN LISTS sources)
    file(STRINGS ${source} uses REGEX "#include <rapidcheck")
    if(uses)
      list(REMOVE_ITEM sources ${source})
    endif()
  endforeach()
  add_executable(${name}_test ${sources})
  holdfast_target(${name}_test)
  target_compile_options(${name}_test PRIVATE -O1)
  target_compile_definitions(${name}_test PRIVATE
    HOLDFAST_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  target_link_libraries(${name}_test PRIVATE holdfast_kernels GTest::gmock GTest::gtest_main)
  # In shards, so that each core has some.
  foreach(shard RANGE 7)
    add_test(NAME ${name}.${shard} COMMAND ${name}_test)
    set_tests_properties(${name}.${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=8;GTEST_SHARD_INDEX=${shard}")
  endforeach()
endforeach()
# Which path was tested.
target_sources(kernels_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/env/cpu_test.cpp)
