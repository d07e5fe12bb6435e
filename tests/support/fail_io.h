/// Makes calls of the C library fail on request. It is linked into a test program, or loaded into
/// another program by LD_PRELOAD and configured by an environment variable.
#pragma once

extern "C" {

/// Counts the calls of `call` whose path contains `part`, and makes `times` of them fail, beginning
/// with the k-th (counted from 1). The environment variable has the same meaning:
/// TRAFFIC_FAIL_IO="rename:/best.h5:1:28:2".
/// @param call open, write, fsync, close, rename, link, mkdir or flock. For descriptors the path of
///   the open file is compared, for two paths the second one. With "clock", whatever the other
///   arguments, the time of day jumps by a day at each reading.
/// @param error errno, or 0: write() writes half of the bytes
void fail_io_arm(const char* call, const char* part, int k, int error, int times);
/// Lets all calls succeed again.
void fail_io_disarm();
/// Number of calls that have failed since fail_io_arm().
int fail_io_injected();
}
