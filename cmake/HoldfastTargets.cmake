# Helpers for our own targets: warnings, and the instruction set of each kernel file.

set(HOLDFAST_AVX2_FLAGS -mavx2 -mfma -mf16c -mbmi -mbmi2)
# NEON is part of every 64-bit Arm; its loads are typed by the lanes they fill.
set(HOLDFAST_NEON_FLAGS -fno-strict-aliasing)
set(HOLDFAST_AVX512_FLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c)
set(HOLDFAST_AMX_FLAGS ${HOLDFAST_AVX512_FLAGS} -mavx512vbmi -mavx512vbmi2
  -mavx512fp16 -mavx512bf16 -mavx512vnni -mamx-tile -mamx-bf16 -mamx-int8)

# All .cpp files of the given folders below holdfast/. Files named *_amx.cpp,
# *_avx512.cpp and *_avx2.cpp get their instruction set, *_vec256.cpp that of AVX2
# or NEON; what is of another kind of processor, *_neon.cpp too, is left out.
function(holdfast_sources result)
  set(found)
  foreach(folder IN LISTS ARGN)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/holdfast/${folder}/*.cpp)
    list(APPEND found ${sources})
  endforeach()
  set(vec256_flags ${HOLDFAST_AVX2_FLAGS})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER found EXCLUDE REGEX "_neon\\.cpp$")
  else()
    list(FILTER found EXCLUDE REGEX "_(amx|avx512|avx2)\\.cpp$")
    set(vec256_flags ${HOLDFAST_NEON_FLAGS})
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64|arm64")
    list(FILTER found EXCLUDE REGEX "_(vec256|neon)\\.cpp$")
  endif()
  foreach(source IN LISTS found)
    set(flags)
    if(source MATCHES "_amx\\.cpp$")
      set(flags ${HOLDFAST_AMX_FLAGS})
    elseif(source MATCHES "_avx512\\.cpp$")
      set(flags ${HOLDFAST_AVX512_FLAGS})
    elseif(source MATCHES "_avx2\\.cpp$")
      set(flags ${HOLDFAST_AVX2_FLAGS})
    elseif(source MATCHES "_(vec256|neon)\\.cpp$")
      set(flags ${vec256_flags})
    endif()
    if(flags)
      # Precompiled headers are of one instruction set.
      set_source_files_properties(${source} PROPERTIES
        SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "${flags}")
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(holdfast_target target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # No contraction: a kernel says fma where it means one, so paths agree in bits.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -ffp-contract=off)
  if(HOLDFAST_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 sees wrong bounds in std::string's own copies, and more of them
    # where its headers were parsed ahead; which ones depends on paths' lengths.
    target_compile_options(${target} PRIVATE -Wno-error=array-bounds -Wno-error=restrict
      -Wno-error=stringop-overflow -Wno-error=stringop-overread)
  endif()
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
