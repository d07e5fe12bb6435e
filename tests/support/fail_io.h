/// Calls of the C library that fail when a test wants them to: linked into a test program, or
/// loaded into another by LD_PRELOAD and told by the environment.
#pragma once

extern "C" {

/// From now on the k-th (from 1) and the following times - 1 calls of `call` whose path has `part`
/// in it fail. The environment says the same as TRAFFIC_FAIL_IO="rename:/best.h5:1:28:2".
/// @param call open, write, fsync, close, rename, link, mkdir or flock; of descriptors the path
/// they lead to counts, of two paths the second. With clock, whatever the rest, the time of day
/// jumps by a day at each look.
/// @param error errno, or 0: write takes half of the bytes
void fail_io_arm(const char* call, const char* part, int k, int error, int times);
/// All calls succeed again.
void fail_io_disarm();
/// How many calls have failed since it was armed.
int fail_io_injected();
}
