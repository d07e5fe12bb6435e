# Finds NCCL, NVIDIA's library for communication between GPUs, in the nvidia-nccl wheel. Output: target Nccl::Nccl.
set(NCCL_ROOT "${TRAFFIC_DEPS}/torch/nvidia/nccl" CACHE PATH "NCCL: a folder with include/ and lib/")
find_path(NCCL_INCLUDE_DIR nccl.h PATHS "${NCCL_ROOT}/include" NO_DEFAULT_PATH)
find_file(NCCL_LIBRARY libnccl.so.2 PATHS "${NCCL_ROOT}/lib" NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Nccl REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run ./launch/setup.sh --cuda first, or pass -DNCCL_ROOT=/path/to/nccl")
if(Nccl_FOUND AND NOT TARGET Nccl::Nccl)
  add_library(Nccl::Nccl INTERFACE IMPORTED)
  target_include_directories(Nccl::Nccl SYSTEM INTERFACE "${NCCL_INCLUDE_DIR}")
  target_link_libraries(Nccl::Nccl INTERFACE "${NCCL_LIBRARY}")
  target_link_options(Nccl::Nccl INTERFACE "-Wl,-rpath,${NCCL_ROOT}/lib")
endif()
