# Functions that declare the modules, programs, tests and benchmarks of this project.

add_library(traffic_flags INTERFACE)
target_compile_options(traffic_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Winvalid-pch
  $<$<BOOL:${TRAFFIC_WERROR}>:-Werror>)
# Hardening flags, so that a memory error cannot easily be exploited; tests/hardening.sh checks the built programs.
# Address tables are filled at program start and then made read-only, and programs are loaded at random addresses.
target_compile_options(traffic_flags INTERFACE
  $<$<NOT:$<OR:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>,$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>>>:-fPIE>)
target_link_options(traffic_flags INTERFACE -Wl,-z,relro,-z,now $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
if(NOT TRAFFIC_SANITIZER)  # sanitizers check more, but not calls that _FORTIFY_SOURCE has replaced
  target_compile_options(traffic_flags INTERFACE -fstack-protector-strong -fstack-clash-protection
    -U_FORTIFY_SOURCE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TRAFFIC_PLAIN_CODE>>>:-D_FORTIFY_SOURCE=3>)
endif()
# at::parallel_for uses OpenMP and runs in one thread only if a source is compiled without -fopenmp. Two builds do without
# it: ThreadSanitizer does not understand how OpenMP's threads synchronise, and clang, which builds the fuzzers, lacks the
# OpenMP header.
if(NOT TRAFFIC_SANITIZER MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(traffic_flags INTERFACE -fopenmp)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # This warning concerns types in unnamed namespaces of included files. A unity build includes all sources, so it would
  # warn about every such type.
  target_compile_options(traffic_flags INTERFACE -Wno-subobject-linkage)
endif()
target_include_directories(traffic_flags INTERFACE "${CMAKE_SOURCE_DIR}/include")
# The torch wheel contains headers of another version of fmt. The compiler must find the headers of the linked version
# first.
find_path(FMT_INCLUDE_DIR fmt/format.h REQUIRED)
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/fmt_include")
file(CREATE_LINK "${FMT_INCLUDE_DIR}/fmt" "${CMAKE_BINARY_DIR}/fmt_include/fmt" SYMBOLIC)
target_include_directories(traffic_flags SYSTEM INTERFACE "${CMAKE_BINARY_DIR}/fmt_include")
if(TRAFFIC_SANITIZER)
  target_compile_options(traffic_flags INTERFACE -fsanitize=${TRAFFIC_SANITIZER} -fno-omit-frame-pointer)
  target_link_options(traffic_flags INTERFACE -fsanitize=${TRAFFIC_SANITIZER})
endif()

# traffic_precompiled(NAME HEADERS... LIBRARIES...) -> target traffic_NAME_pch: precompiled headers that targets reuse.
# A target is compiled at the optimisation level of the precompiled header that it reuses, whatever its own options say
# (GCC stores the level in the header).
function(traffic_precompiled name)
  cmake_parse_arguments(P "" "" "HEADERS;LIBRARIES" ${ARGN})
  add_library(traffic_${name}_pch OBJECT "${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(traffic_${name}_pch PUBLIC traffic_flags ${P_LIBRARIES})
  target_precompile_headers(traffic_${name}_pch PRIVATE ${P_HEADERS})
endfunction()

# Tests are compiled without optimisation: optimising them takes longer than running them. The code that they test is
# optimised.
function(_traffic_plain_code target)
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES TRAFFIC_PLAIN_CODE ON)
endfunction()

# The precompiled headers of every target declared with TORCH. torch/torch.h is not among them: its templates would be
# instantiated in every file, which triples the compile time.
set(torch_headers <torch/types.h> <torch/utils.h>)
# Joined (unity) builds also precompile the headers that most other sources include. Other builds do not, so that they
# detect a source that uses a header without including it. A target that is declared COLD has no loop that is worth the
# compile time of -O3; it reads options, writes reports, or calls what does the work.
if(CMAKE_UNITY_BUILD)
  set(common_headers <algorithm> <array> <chrono> <cmath> <filesystem> <fstream> <functional> <map> <memory> <optional>
    <span> <sstream> <string> <string_view> <unordered_map> <vector> <fmt/format.h> <fmt/ranges.h>
    "${CMAKE_SOURCE_DIR}/cmake/instantiated_elsewhere.h")
  list(APPEND torch_headers ${common_headers})
  traffic_precompiled(common HEADERS ${common_headers} LIBRARIES fmt::fmt)
  traffic_precompiled(cold HEADERS ${common_headers} <nlohmann/json.hpp> LIBRARIES fmt::fmt)
  traffic_precompiled(cold_torch HEADERS ${torch_headers} <nlohmann/json.hpp> LIBRARIES Torch::Torch fmt::fmt)
  foreach(cold IN ITEMS cold cold_torch)
    target_compile_options(traffic_${cold}_pch PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endif()
traffic_precompiled(torch HEADERS ${torch_headers} LIBRARIES Torch::Torch fmt::fmt)
if(TRAFFIC_TESTS)
  set(test_headers <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <fmt/format.h> <filesystem> <functional>)
  traffic_precompiled(test HEADERS ${test_headers} LIBRARIES GTest::gmock fmt::fmt)
  traffic_precompiled(torch_test HEADERS ${torch_headers} ${test_headers} LIBRARIES Torch::Torch GTest::gmock fmt::fmt)
  _traffic_plain_code(traffic_test_pch)
  _traffic_plain_code(traffic_torch_test_pch)
endif()

# Lets a target that needs no torch use a common precompiled header.
function(_traffic_use_common target cold)
  if(cold)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(CMAKE_UNITY_BUILD AND cold)
    target_precompile_headers(${target} REUSE_FROM traffic_cold_pch)
  elseif(CMAKE_UNITY_BUILD)
    target_precompile_headers(${target} REUSE_FROM traffic_common_pch)
  endif()
  # Twice as many sources in a unit as the presets set, because sources without torch need less than half of the memory.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# Lets a target use LibTorch and a precompiled header of it. PCH: torch or torch_test.
function(_traffic_use_torch target visibility pch cold)
  target_link_libraries(${target} ${visibility} Torch::Torch)
  if(cold)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(CMAKE_UNITY_BUILD AND cold)
    set(pch cold_torch)
  endif()
  target_precompile_headers(${target} REUSE_FROM traffic_${pch}_pch)
endfunction()

# Compiles the sources of a module once more, for shared libraries, which cannot contain the code of programs (-fPIE).
# -> object library traffic_NAME_pic
function(_traffic_pic_module name sources depends)
  list(TRANSFORM depends REPLACE "^(traffic_.*)$" "\\1_pic")
  add_library(traffic_${name}_pic OBJECT ${sources})
  target_link_libraries(traffic_${name}_pic PUBLIC traffic_flags ${depends})
  # The simulations, in programs of their own, do nearly all of the work.
  target_compile_options(traffic_${name}_pic PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(traffic_${name}_pic PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# traffic_module(NAME SOURCES a.cpp ... [DEPENDS targets...] [PRIVATE_DEPENDS targets...] [TORCH] [COLD] [TARGET target]
#   [PIC])
# -> static library traffic_NAME, or TARGET if a program has that name
# PIC: also object library traffic_NAME_pic, which is part of the shared library traffic_env. Builds with sanitizers have
# no such library, because a program without sanitizers, such as Python, could not load it.
function(traffic_module name)
  cmake_parse_arguments(M "TORCH;COLD;PIC" "TARGET" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  set(target traffic_${name})
  if(M_TARGET)
    set(target ${M_TARGET})
  endif()
  if(M_SOURCES)
    add_library(${target} STATIC ${M_SOURCES})
    target_link_libraries(${target} PUBLIC traffic_flags ${M_DEPENDS} PRIVATE ${M_PRIVATE_DEPENDS})
    target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/src/${name}")
    if(M_TORCH)
      _traffic_use_torch(${target} PUBLIC torch ${M_COLD})
    elseif(NOT name STREQUAL "os")  # os does not use fmt
      _traffic_use_common(${target} ${M_COLD})
    endif()
    if(M_PIC AND NOT TRAFFIC_SANITIZER)
      _traffic_pic_module(${name} "${M_SOURCES}" "${M_DEPENDS};${M_PRIVATE_DEPENDS}")
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE traffic_flags ${M_DEPENDS})
  endif()
endfunction()

# The commands in the README use symbolic links in the repository, such as ./traffic_train. The links point to the
# programs of the build preset for this machine (launch/preset.sh), so only a build of this preset creates them.
execute_process(COMMAND "${CMAKE_SOURCE_DIR}/launch/preset.sh" OUTPUT_VARIABLE TRAFFIC_PRESET_OF_MACHINE
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(TRAFFIC_GPU FALSE)
if(TRAFFIC_CUDA AND TRAFFIC_PRESET_OF_MACHINE STREQUAL "cuda")
  set(TRAFFIC_GPU TRUE)
endif()
set(TRAFFIC_LINKS FALSE)
if(NOT TRAFFIC_SANITIZER AND (TRAFFIC_GPU OR NOT (TRAFFIC_CUDA OR TRAFFIC_PRESET_OF_MACHINE STREQUAL "cuda")))
  set(TRAFFIC_LINKS TRUE)
endif()

# traffic_program(NAME SOURCES ... DEPENDS ... [LINK_AT path-under-the-repository] [TORCH] [COLD])
# LINK_AT: place of a symbolic link to the program in the repository.
function(traffic_program name)
  cmake_parse_arguments(P "TORCH;COLD" "LINK_AT" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${P_SOURCES})
  target_link_libraries(${name} PRIVATE traffic_flags ${P_DEPENDS})
  if(P_TORCH)
    _traffic_use_torch(${name} PRIVATE torch ${P_COLD})
  else()
    _traffic_use_common(${name} ${P_COLD})
  endif()
  set_property(GLOBAL APPEND PROPERTY TRAFFIC_PROGRAMS ${name})
  if(P_LINK_AT AND TRAFFIC_LINKS)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink "$<TARGET_FILE:${name}>" "${CMAKE_SOURCE_DIR}/${P_LINK_AT}")
  endif()
endfunction()

# Tests that need a GPU are always built if CUDA is enabled, but registered with ctest only if the machine has a GPU. All
# other tests cannot see the GPUs, because they may start more ranks than there are GPUs.
if(TRAFFIC_CUDA AND NOT TRAFFIC_GPU)
  message(STATUS "No GPU on this machine: tests with the label gpu are built, but left out by ctest")
endif()

# traffic_test(MODULE SOURCES ... DEPENDS ... [TORCH] [GPU] [MPI n ...] [LABELS ...] [TIMEOUT s])
# -> program test_MODULE. ctest runs it once, or with MPI once for each number of ranks; with GPU only if there is one.
function(traffic_test name)
  cmake_parse_arguments(T "TORCH;GPU" "TIMEOUT" "SOURCES;DEPENDS;MPI;LABELS" ${ARGN})
  if(NOT TRAFFIC_TESTS)
    return()
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 600)
  endif()
  set(target test_${name})
  add_executable(${target} ${T_SOURCES})
  target_link_libraries(${target} PRIVATE traffic_flags ${T_DEPENDS} GTest::gmock fmt::fmt)
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests" "${CMAKE_SOURCE_DIR}/src"
    "${CMAKE_SOURCE_DIR}/src/train")
  target_compile_definitions(${target} PRIVATE
    TRAFFIC_SOURCE_DIR="${CMAKE_SOURCE_DIR}" TRAFFIC_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
  if(T_TORCH)
    _traffic_use_torch(${target} PRIVATE torch_test FALSE)
  else()
    target_precompile_headers(${target} REUSE_FROM traffic_test_pch)
  endif()
  _traffic_plain_code(${target})
  if(T_GPU AND NOT TRAFFIC_GPU)
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
    return()
  endif()
  if(T_GPU)
    set(T_LABELS gpu)
  endif()
  if("fault" IN_LIST T_LABELS)
    target_sources(${target} PRIVATE "${CMAKE_SOURCE_DIR}/tests/support/leftovers.cpp")
  endif()
  # Makes threads of OpenMP sleep while they wait. By default they spin and take the cores from other tests.
  set(environment OMP_WAIT_POLICY=passive)
  if(TRAFFIC_CUDA AND NOT T_GPU AND NOT T_MPI)
    list(APPEND environment CUDA_VISIBLE_DEVICES=)
  endif()
  if(T_MPI)
    target_link_libraries(${target} PRIVATE MPI::MPI_C)
    if(NOT T_LABELS)
      set(T_LABELS mpi)
    endif()
    foreach(n IN LISTS T_MPI)
      add_test(NAME ${name}_np${n} COMMAND "${CMAKE_SOURCE_DIR}/launch/mpirun.sh" -np ${n} $<TARGET_FILE:${target}>)
      set_tests_properties(${name}_np${n} PROPERTIES LABELS "${T_LABELS}" PROCESSORS ${n} TIMEOUT ${T_TIMEOUT}
        WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" ENVIRONMENT "${environment}")
    endforeach()
  else()
    if(NOT T_LABELS)
      set(T_LABELS unit)
    endif()
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT}
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" ENVIRONMENT "${environment}")
  endif()
endfunction()

# traffic_benchmark(NAME SOURCES ... DEPENDS ... [TORCH]) -> program bench_NAME (Google Benchmark), not run by ctest
function(traffic_benchmark name)
  cmake_parse_arguments(B "TORCH" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT TRAFFIC_BENCHMARKS)
    return()
  endif()
  add_executable(bench_${name} ${B_SOURCES})
  target_link_libraries(bench_${name} PRIVATE traffic_flags ${B_DEPENDS} benchmark::benchmark)
  target_include_directories(bench_${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests" "${CMAKE_SOURCE_DIR}/src"
    "${CMAKE_SOURCE_DIR}/src/train")
  if(B_TORCH)
    _traffic_use_torch(bench_${name} PRIVATE torch FALSE)
  endif()
endfunction()
