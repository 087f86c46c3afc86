# Helpers for our own targets: warnings, and the instruction set of each kernel file.

set(HOLDFAST_AVX2_FLAGS -mavx2 -mfma -mf16c)
set(HOLDFAST_AVX512_FLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c)
set(HOLDFAST_AMX_FLAGS ${HOLDFAST_AVX512_FLAGS} -mavx512vbmi -mavx512vbmi2
  -mavx512fp16 -mavx512bf16 -mavx512vnni -mamx-tile -mamx-bf16 -mamx-int8)

# All .cpp files of the given folders below holdfast/. Files named *_amx.cpp,
# *_avx512.cpp and *_avx2.cpp get their instruction set; on other processors they
# are left out.
function(holdfast_sources result)
  set(found)
  foreach(folder IN LISTS ARGN)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/holdfast/${folder}/*.cpp)
    list(APPEND found ${sources})
  endforeach()
  foreach(source IN LISTS found)
    if(source MATCHES "_(amx|avx512|avx2)\\.cpp$")
      # Precompiled headers are of one instruction set.
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
    if(source MATCHES "_amx\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${HOLDFAST_AMX_FLAGS}")
    elseif(source MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${HOLDFAST_AVX512_FLAGS}")
    elseif(source MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${HOLDFAST_AVX2_FLAGS}")
    endif()
  endforeach()
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER found EXCLUDE REGEX "_(amx|avx512|avx2)\\.cpp$")
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(holdfast_target target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # No contraction: a kernel says fma where it means one, so paths agree in bits.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -ffp-contract=off)
endfunction()

# What most sources of a target include, parsed once.
function(holdfast_precompile target)
  if(NOT HOLDFAST_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN} <algorithm> <array> <atomic> <chrono>
    <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex> <numeric>
    <optional> <set> <span> <stdexcept> <string> <string_view> <thread> <utility> <variant>
    <vector>)
endfunction()
