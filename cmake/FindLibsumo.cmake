# libsumo from the eclipse-sumo wheel.
# Input:  SUMO_ROOT (cache), by default the wheel in TRAFFIC_DEPS.
# Output: target Libsumo::Libsumo, programs SUMO_NETCONVERT and SUMO_NETGENERATE.
set(SUMO_ROOT "${TRAFFIC_DEPS}/sumo/sumo" CACHE PATH "SUMO: a folder with bin/, include/ and lib64/")
find_path(LIBSUMO_INCLUDE_DIR libsumo/libsumo.h PATHS "${SUMO_ROOT}/include" NO_DEFAULT_PATH)
find_library(LIBSUMO_LIBRARY sumocpp PATHS "${SUMO_ROOT}/lib64" "${SUMO_ROOT}/lib" NO_DEFAULT_PATH)
find_program(SUMO_NETCONVERT netconvert PATHS "${SUMO_ROOT}/bin" NO_DEFAULT_PATH)
find_program(SUMO_NETGENERATE netgenerate PATHS "${SUMO_ROOT}/bin" NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libsumo REQUIRED_VARS LIBSUMO_LIBRARY LIBSUMO_INCLUDE_DIR SUMO_NETCONVERT SUMO_NETGENERATE
  REASON_FAILURE_MESSAGE "run ./launch/setup.sh first, or pass -DSUMO_ROOT=/path/to/sumo")

if(Libsumo_FOUND AND NOT TARGET Libsumo::Libsumo)
  get_filename_component(_sumo_lib_dir "${LIBSUMO_LIBRARY}" DIRECTORY)
  add_library(Libsumo::Libsumo INTERFACE IMPORTED)
  target_include_directories(Libsumo::Libsumo SYSTEM INTERFACE "${LIBSUMO_INCLUDE_DIR}")
  target_link_libraries(Libsumo::Libsumo INTERFACE "${LIBSUMO_LIBRARY}")
  # The wheel's own libraries contain their rpath; only the linker must not try to resolve them.
  target_link_options(Libsumo::Libsumo INTERFACE "-Wl,-rpath,${_sumo_lib_dir}" "-Wl,--allow-shlib-undefined")
endif()
