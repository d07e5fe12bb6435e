# Finds LibTorch without the CUDA toolkit, which its own TorchConfig.cmake requires.
# Input:  TORCH_ROOT (cache; a folder with include/ and lib/), by default the wheel in TRAFFIC_DEPS.
# Output: target Torch::Torch (for the CPU; with TRAFFIC_CUDA also with the CUDA libraries); with TRAFFIC_CUDA also
#         Torch::CudaHeaders, for the targets that call CUDA, and Nvrtc::Nvrtc, the run-time compiler for CUDA C++.
set(TORCH_ROOT "${TRAFFIC_DEPS}/torch/torch" CACHE PATH "LibTorch: a folder with include/ and lib/")
find_path(TORCH_INCLUDE_DIR torch/version.h PATHS "${TORCH_ROOT}/include/torch/csrc/api/include"
          "${TORCH_ROOT}/include" NO_DEFAULT_PATH)
foreach(lib torch_cpu c10)
  find_library(TORCH_${lib}_LIBRARY ${lib} PATHS "${TORCH_ROOT}/lib" NO_DEFAULT_PATH)
  list(APPEND _torch_required TORCH_${lib}_LIBRARY)
endforeach()
if(TRAFFIC_CUDA)
  foreach(lib torch_cuda c10_cuda)
    find_library(TORCH_${lib}_LIBRARY ${lib} PATHS "${TORCH_ROOT}/lib" NO_DEFAULT_PATH)
    list(APPEND _torch_required TORCH_${lib}_LIBRARY)
  endforeach()
  find_file(TORCH_CUDART_LIBRARY libcudart.so.13 PATHS "${TORCH_ROOT}/../nvidia/cu13/lib" NO_DEFAULT_PATH)
  find_file(TORCH_NVRTC_LIBRARY libnvrtc.so.13 PATHS "${TORCH_ROOT}/../nvidia/cu13/lib" NO_DEFAULT_PATH)
  list(APPEND _torch_required TORCH_CUDART_LIBRARY TORCH_NVRTC_LIBRARY)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch2 REQUIRED_VARS TORCH_INCLUDE_DIR ${_torch_required}
  REASON_FAILURE_MESSAGE "run ./launch/setup.sh first, or pass -DTORCH_ROOT=/path/to/libtorch")

if(Torch2_FOUND AND NOT TARGET Torch::Torch)
  add_library(Torch::Torch INTERFACE IMPORTED)
  target_include_directories(Torch::Torch SYSTEM INTERFACE
    "${TORCH_ROOT}/include" "${TORCH_ROOT}/include/torch/csrc/api/include")
  target_link_directories(Torch::Torch INTERFACE "${TORCH_ROOT}/lib")
  target_link_libraries(Torch::Torch INTERFACE "${TORCH_torch_cpu_LIBRARY}" "${TORCH_c10_LIBRARY}")
  # The OpenMP library that torch_cpu has loaded, for the threads of at::parallel_for.
  find_library(TORCH_OPENMP_LIBRARY NAMES libgomp.so.1 gomp PATHS "${TORCH_ROOT}/lib" NO_DEFAULT_PATH REQUIRED)
  target_link_libraries(Torch::Torch INTERFACE "${TORCH_OPENMP_LIBRARY}")
  set(_torch_rpath "${TORCH_ROOT}/lib" "${TORCH_ROOT}/../nvidia/cu13/lib")
  if(TRAFFIC_CUDA)
    # --no-as-needed: torch_cuda registers its kernels when it is loaded, but no symbol of it is referenced.
    target_link_libraries(Torch::Torch INTERFACE
      "-Wl,--no-as-needed" "${TORCH_torch_cuda_LIBRARY}" "${TORCH_c10_cuda_LIBRARY}" "-Wl,--as-needed"
      "${TORCH_CUDART_LIBRARY}")
    # torch_cuda finds the libraries that it needs through its own rpath when it is loaded.
    target_link_options(Torch::Torch INTERFACE "-Wl,--allow-shlib-undefined")
    # The CUDA headers have a target of their own. Code that does not call CUDA therefore has the same compiler options in
    # builds with and without CUDA, and ccache compiles it only once.
    add_library(Torch::CudaHeaders INTERFACE IMPORTED)
    target_include_directories(Torch::CudaHeaders SYSTEM INTERFACE "${TORCH_ROOT}/../nvidia/cu13/include")
    target_compile_definitions(Torch::CudaHeaders INTERFACE TRAFFIC_CUDA=1)
    add_library(Nvrtc::Nvrtc INTERFACE IMPORTED)
    target_link_libraries(Nvrtc::Nvrtc INTERFACE "${TORCH_NVRTC_LIBRARY}")
  endif()
  foreach(dir IN LISTS _torch_rpath)
    target_link_options(Torch::Torch INTERFACE "-Wl,-rpath,${dir}" "-Wl,-rpath-link,${dir}")
  endforeach()
endif()
