# Google Highway's headers, which are all that kernels need: Highway_INCLUDE_DIR.
find_path(Highway_INCLUDE_DIR hwy/highway.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Highway DEFAULT_MSG Highway_INCLUDE_DIR)
