// Exists so that CMake builds a shared precompiled header once (see TrafficTargets.cmake).
