/// Makes calls of the C library fail on request, so that tests can check what programs do then. The
/// library is linked into a test program, which calls fail_io_arm(). Or LD_PRELOAD loads it into
/// another program, and the environment variable TRAFFIC_FAIL_IO says which calls fail.
#pragma once

extern "C" {

/// Counts the calls of `call` whose path contains `part`, and makes `times` of them fail, beginning
/// with the k-th (counted from 1). The environment variable lists the same five arguments:
/// TRAFFIC_FAIL_IO="rename:/best.h5:1:28:2".
/// @param call open, write, fsync, close, rename, link, mkdir or flock; or "clock", with which the
///   time of day jumps by a day at each reading and the other arguments have no meaning
/// @param part compared with the path that the call gets. If the call gets a descriptor, it is the
///   path of the open file. If the call gets two paths, it is the second path.
/// @param error errno of the failing calls. With 0, write() succeeds but writes half of the bytes.
void fail_io_arm(const char* call, const char* part, int k, int error, int times);
/// Lets all calls succeed again.
void fail_io_disarm();
/// Number of calls that have failed since fail_io_arm().
int fail_io_injected();
}
