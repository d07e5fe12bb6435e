// Encodes and decodes the messages of SUMO's protocol TraCI, and exchanges them with a running
// SUMO.
#include "traci_client.h"

#include <libsumo/TraCIConstants.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/signals.h"

namespace traffic::sim {
namespace {

constexpr double kConnect_s = 5.0;    ///< SUMO opens its port only when it has read the network
constexpr double kSilence_s = 10.0;   ///< a wait of this duration is reported to the user
constexpr double kStopping_s = 10.0;  ///< wait for an answer after a request to stop
constexpr std::size_t kLongestAnswer = std::size_t{1} << 30;  ///< bytes; larger counts are errors
constexpr std::size_t kRequestsPerMessage = 4096;

std::string int_bytes(std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>((bits >> shift) & 0xffU);
  return bytes;
}

std::string real_bytes(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return int_bytes(static_cast<std::int32_t>(bits >> 32U)) +
         int_bytes(static_cast<std::int32_t>(bits & 0xffffffffU));
}

std::string text_bytes(std::string_view value) {
  return int_bytes(static_cast<std::int32_t>(value.size())) + std::string(value);
}

/// A command with its length in front: one byte, or a zero and four bytes.
std::string command_bytes(int id, const std::string& content) {
  const std::size_t size = content.size() + 2;
  const std::string end = static_cast<char>(id) + content;
  if (size <= 255) return static_cast<char>(size) + end;
  return '\0' + int_bytes(static_cast<std::int32_t>(size + 4)) + end;
}

std::string command_bytes(const TraciRequest& request) {
  return command_bytes(request.command, static_cast<char>(request.variable) +
                                            text_bytes(request.object) + request.parameters);
}

}  // namespace

namespace traci {
std::string typed(double value) {
  return static_cast<char>(libsumo::TYPE_DOUBLE) + real_bytes(value);
}
std::string typed(std::string_view value) {
  return static_cast<char>(libsumo::TYPE_STRING) + text_bytes(value);
}
std::string typed_byte(int value) {
  return {static_cast<char>(libsumo::TYPE_BYTE), static_cast<char>(value)};
}
std::string compound(int size) {
  return static_cast<char>(libsumo::TYPE_COMPOUND) + int_bytes(size);
}
}  // namespace traci

std::string_view TraciReader::take(std::size_t size) {
  if (size > left()) {
    throw WorkerError("SUMO's answer ends after {} bytes, expected at least {} more", bytes_.size(),
                      size - left());
  }
  const std::string_view found = std::string_view(bytes_).substr(at_, size);
  at_ += size;
  return found;
}

int TraciReader::ubyte() { return static_cast<unsigned char>(take(1)[0]); }

int TraciReader::int32() {
  std::uint32_t bits = 0;
  for (const char byte : take(4)) bits = bits << 8U | static_cast<unsigned char>(byte);
  return static_cast<std::int32_t>(bits);
}

double TraciReader::real() {
  std::uint64_t bits = 0;
  for (const char byte : take(8)) bits = bits << 8U | static_cast<unsigned char>(byte);
  return std::bit_cast<double>(bits);
}

std::string TraciReader::text() {
  const int size = int32();
  return std::string(take(size < 0 ? kLongestAnswer : static_cast<std::size_t>(size)));
}

void TraciReader::expect(int type) {
  const int found = ubyte();
  if (found != type) {
    throw WorkerError("SUMO's answer has a value of TraCI's type {}, expected {}", found, type);
  }
}

int TraciReader::typed_int() {
  expect(libsumo::TYPE_INTEGER);
  return int32();
}
double TraciReader::typed_real() {
  expect(libsumo::TYPE_DOUBLE);
  return real();
}
std::string TraciReader::typed_text() {
  expect(libsumo::TYPE_STRING);
  return text();
}
std::vector<std::string> TraciReader::typed_texts() {
  expect(libsumo::TYPE_STRINGLIST);
  std::vector<std::string> texts;
  for (int i = int32(); i > 0; --i) texts.push_back(text());
  return texts;
}
int TraciReader::compound() {
  expect(libsumo::TYPE_COMPOUND);
  return int32();
}
TraciReader TraciReader::part(std::size_t size) { return TraciReader(std::string(take(size))); }

namespace {

/// Reads the length in front of a command. @return bytes of the command that follow it
std::size_t read_length(TraciReader& answer) {
  const int one = answer.ubyte();
  const int size = one > 0 ? one - 1 : answer.int32() - 5;
  return size < 0 ? kLongestAnswer : static_cast<std::size_t>(size);
}

/// Reads the status of a command. @return SUMO's message if it refused the command
std::optional<std::string> refusal(TraciReader& answer) {
  TraciReader status = answer.part(read_length(answer));
  const int command = status.ubyte();
  const int result = status.ubyte();
  const std::string message = status.text();
  if (result == libsumo::RTYPE_OK) return std::nullopt;
  return fmt::format("SUMO refuses TraCI's command {:#04x}: {}", command, message);
}

/// @throws WorkerError if SUMO refused the command
void read_status(TraciReader& answer) {
  if (const auto message = refusal(answer)) throw WorkerError(*message);
}

/// Reads the value after the status of a request for a variable.
TraciReader read_value(TraciReader& answer) {
  TraciReader content = answer.part(read_length(answer));
  content.ubyte();  // the command
  content.ubyte();  // the variable
  content.text();   // the object
  return content.part(content.left());
}

}  // namespace

TraciClient::TraciClient(const RunningSimulation& simulation)
    : simulation_(simulation), address_(fmt::format("{}:{}", simulation.host, simulation.port)) {
  connect();
  check_version();
  TraciReader answer = exchange(command_bytes(libsumo::CMD_SETORDER, int_bytes(simulation_.order)));
  read_status(answer);
}

void TraciClient::connect() {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(simulation_.host.c_str(), std::to_string(simulation_.port).c_str(),
                                 &hints, &found);
  if (failed != 0) {
    throw WorkerError("{}: the host is not known: {}", address_, gai_strerror(failed));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  const Stopwatch clock;
  int error = 0;
  while (!stop_requested()) {
    for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
      socket_ = os::Descriptor(socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, 0));
      const timeval limit{.tv_sec = static_cast<time_t>(kConnect_s), .tv_usec = 0};
      setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
      if (::connect(socket_.get(), one->ai_addr, one->ai_addrlen) == 0) {
        const int on = 1;  // messages are short, and SUMO waits for each of them
        setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        waits_since_s_ = steady_seconds();
        return;
      }
      error = errno;
    }
    if (clock.seconds() > kConnect_s) break;
    usleep(100'000);
  }
  throw WorkerError(
      "nobody listens at {} ({}): start sumo or sumo-gui with --remote-port {} --num-clients N, "
      "where N counts this program, too",
      address_, std::strerror(error), simulation_.port);
}

void TraciClient::check_version() {
  TraciReader answer = exchange(command_bytes(libsumo::CMD_GETVERSION, {}));
  read_status(answer);
  TraciReader content = answer.part(read_length(answer));
  content.ubyte();
  content.int32();
  const std::string found = content.text();
  if (found == sumo_version()) return;
  throw ConfigError(
      "{}: the simulator is '{}', expected {}: start sumo or sumo-gui of the expected version, "
      "because other versions drive differently",
      address_, found, sumo_version());
}

std::vector<TraciReader> TraciClient::ask(const std::vector<TraciRequest>& requests) {
  std::vector<TraciReader> values;
  values.reserve(requests.size());
  ask_all(requests, [&](TraciReader& answer) {
    read_status(answer);
    values.push_back(read_value(answer));
  });
  return values;
}

std::vector<std::optional<TraciReader>> TraciClient::try_ask(
    const std::vector<TraciRequest>& requests) {
  std::vector<std::optional<TraciReader>> values;
  values.reserve(requests.size());
  ask_all(requests, [&](TraciReader& answer) {
    if (refusal(answer))
      values.emplace_back();
    else
      values.emplace_back(read_value(answer));
  });
  return values;
}

template <typename Read>
void TraciClient::ask_all(const std::vector<TraciRequest>& requests, const Read& read) {
  for (std::size_t begin = 0; begin < requests.size(); begin += kRequestsPerMessage) {
    const std::size_t end = std::min(requests.size(), begin + kRequestsPerMessage);
    std::string message;
    for (std::size_t i = begin; i < end; ++i) message += command_bytes(requests[i]);
    TraciReader answer = exchange(message);
    for (std::size_t i = begin; i < end; ++i) read(answer);
  }
}

void TraciClient::set(const TraciRequest& request) { queued_ += command_bytes(request); }

void TraciClient::step() {
  send_queued();
  TraciReader answer = exchange(command_bytes(libsumo::CMD_SIMSTEP, real_bytes(0.0)));
  read_status(answer);  // the rest are the subscriptions of other clients
}

void TraciClient::send_queued() {
  if (queued_.empty()) return;
  TraciReader answer = exchange(std::exchange(queued_, {}));
  while (answer.left() > 0) read_status(answer);
}

void TraciClient::leave() noexcept {
  if (!socket_.is_open()) return;
  try {
    send_queued();
    exchange(command_bytes(libsumo::CMD_CLOSE, {}));
  } catch (const std::exception&) {  // the simulation has ended already
  }
  socket_.reset();
}

TraciReader TraciClient::exchange(const std::string& commands) {
  try {
    return send_and_receive(commands);
  } catch (...) {
    socket_.reset();  // an answer that comes later would be taken for that of another message
    throw;
  }
}

TraciReader TraciClient::send_and_receive(const std::string& commands) {
  TRAFFIC_CHECK(socket_.is_open(), "{}: this client has left the simulation", address_);
  waits_since_s_ = steady_seconds();
  send(int_bytes(static_cast<std::int32_t>(commands.size() + 4)) + commands);
  const int size = TraciReader(receive(4)).int32();
  if (size < 4 || static_cast<std::size_t>(size) > kLongestAnswer) {
    throw WorkerError(
        "{}: an answer claims to have {} bytes, expected 4 to {}: a program other than SUMO "
        "listens "
        "there; give the port that a sumo got by --remote-port",
        address_, size, kLongestAnswer);
  }
  return TraciReader(receive(static_cast<std::size_t>(size) - 4));
}

void TraciClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    wait(POLLOUT);
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EINTR && errno != EAGAIN) {
      throw WorkerError("{}: the simulation has ended: {}", address_, std::strerror(errno));
    }
  }
}

std::string TraciClient::receive(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t have = 0; have < size;) {
    wait(POLLIN);
    const ssize_t got = ::recv(socket_.get(), bytes.data() + have, size - have, 0);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
      throw WorkerError(
          "{}: the simulator has ended the connection: somebody has closed it, or the simulator or "
          "another client has failed; read the messages of sumo",
          address_);
    }
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return bytes;
}

void TraciClient::wait(short events) {
  double stop_since_s = -1;
  for (;;) {
    pollfd one{.fd = socket_.get(), .events = events, .revents = 0};
    constexpr int kInterval_ms = 200;
    if (poll(&one, 1, kInterval_ms) > 0) {
      has_said_ = false;
      return;
    }
    const double now_s = steady_seconds();
    if (stop_requested() && stop_since_s < 0) stop_since_s = now_s;
    if (stop_since_s >= 0 && now_s - stop_since_s > kStopping_s) {
      throw WorkerError(
          "{}: a stop was requested, but SUMO has not ended its step for {:.0f} s: vehicles and "
          "lights could not be handed back",
          address_, kStopping_s);
    }
    const double waited_s = now_s - waits_since_s_;
    if (simulation_.patience_s > 0 && waited_s > simulation_.patience_s) {
      throw WorkerError(
          "{}: no answer for {:.0f} s: the simulation is paused, or another client does not take "
          "its turn, or fewer clients have connected than --num-clients says; --patience sets "
          "how long to wait",
          address_, waited_s);
    }
    if (waited_s > kSilence_s && !has_said_ && simulation_.say) {
      has_said_ = true;
      simulation_.say(fmt::format(
          "SUMO at {} has not answered for {:.0f} s: it is paused or waits for another client",
          address_, waited_s));
    }
  }
}

}  // namespace traffic::sim
