// Keeps SUMO from writing files that the program's arguments do not name, and from printing to
// stdout.
#include "sumo_outputs.h"

#include <dlfcn.h>

#include <iostream>
#include <utility>

#include "traffic/core/error.h"

/// A class of SUMO, declared as in SUMO 1.28's src/utils/iodevices/OutputDevice.h.
class OutputDevice {
 public:
  static OutputDevice& getDevice(const std::string& name, bool use_prefix);
};

namespace traffic::sim {
namespace {

std::set<std::string> g_allowed{};  // files that SUMO may write; global, like SUMO's state

/// A stream buffer that discards everything.
class NullBuffer : public std::streambuf {
 protected:
  int overflow(int c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize n) override { return n; }
};
NullBuffer g_null;

using GetDevice = OutputDevice& (*)(const std::string&, bool);

GetDevice get_device_of_sumo() {
  void* found = dlsym(RTLD_NEXT,
                      "_ZN12OutputDevice9getDeviceERKNSt7__cxx1112basic_string"
                      "IcSt11char_traitsIcESaIcEEEb");
  TRAFFIC_CHECK(found != nullptr, "libsumo exports no OutputDevice::getDevice()");
  return reinterpret_cast<GetDevice>(found);
}

/// SUMO's MsgHandler asks for these two names; every other name is a file or "host:port".
bool is_message_stream(const std::string& name) { return name == "stdout" || name == "stderr"; }

}  // namespace

void allow_outputs(std::set<std::string> files) { g_allowed = std::move(files); }

StdoutGuard::StdoutGuard() : stdout_(std::cout.rdbuf(&g_null)) {}
StdoutGuard::~StdoutGuard() { std::cout.rdbuf(stdout_); }
void StdoutGuard::show(bool shown) {
  std::cout.rdbuf(shown ? std::cerr.rdbuf() : static_cast<std::streambuf*>(&g_null));
}

}  // namespace traffic::sim

/// Takes the place of libsumo's function of this name, through which SUMO opens all its outputs:
/// the dynamic linker prefers the program's definition to that of a shared library.
OutputDevice& OutputDevice::getDevice(const std::string& name, bool use_prefix) {
  static const traffic::sim::GetDevice get_device = traffic::sim::get_device_of_sumo();
  if (traffic::sim::is_message_stream(name) || traffic::sim::g_allowed.contains(name)) {
    return get_device(name, use_prefix);
  }
  return get_device("/dev/null", false);
}
