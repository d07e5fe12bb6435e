// Exists so that CMake builds the shared precompiled header once (see TrafficTargets.cmake).
