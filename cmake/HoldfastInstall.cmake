# A relocatable prefix: bin/holdfast, the static libraries with their headers and
# CMake package, and MLX beside them, so that nothing points outside the prefix.
include(CMakePackageConfigHelpers)

set(HOLDFAST_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
set(targets holdfast_core)
if(TARGET holdfast)
  list(APPEND targets holdfast)
endif()
install(TARGETS ${targets} EXPORT holdfastTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION ${HOLDFAST_CMAKE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/holdfast/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/holdfast
  FILES_MATCHING PATTERN "*.h")
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/holdfastConfig.cmake.in
  ${PROJECT_BINARY_DIR}/holdfastConfig.cmake
  INSTALL_DESTINATION ${HOLDFAST_CMAKE_DIR})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/holdfastConfig.cmake
  ${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake
  ${PROJECT_SOURCE_DIR}/cmake/Findzstd.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindPCRE2.cmake
  ${PROJECT_SOURCE_DIR}/cmake/Findutf8proc.cmake
  DESTINATION ${HOLDFAST_CMAKE_DIR})

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(HOLDFAST_MLX)
  get_target_property(mlx_library mlx IMPORTED_LOCATION_RELEASE)
  get_filename_component(mlx_root ${MLX_DIR}/../../.. ABSOLUTE)
  # libmlx finds the libraries of its wheel two folders up; in the prefix they
  # lie beside it, and its search path is shortened in place to say so.
  set(mlx_wheel_path "$ORIGIN/../../mlx_cpu.libs")
  file(GLOB mlx_companions ${mlx_root}/../mlx_cpu.libs/*.so*)
  install(FILES ${mlx_library} ${mlx_companions} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${mlx_root}/include/mlx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${mlx_root}/share/cmake/MLX DESTINATION share/cmake)
  file(GLOB mlx_licence ${mlx_root}/../mlx-*.dist-info/licenses/LICENSE)
  install(FILES ${mlx_licence} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.mlx)
  if(mlx_companions)
    install(CODE "
      file(RPATH_CHANGE
        FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libmlx.so\"
        OLD_RPATH [[${mlx_wheel_path}]] NEW_RPATH [[$ORIGIN]])")
  endif()
endif()
