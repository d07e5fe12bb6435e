/// A client of SUMO's protocol TraCI, which sends many requests in one message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/os/descriptor.h"
#include "traffic/sim/live.h"

namespace traffic::sim {

/// Values of TraCI with their type, for TraciRequest::parameters.
namespace traci {
std::string typed(double value);
std::string typed(std::string_view value);
std::string typed_byte(int value);
/// Begins a compound, which is TraCI's group of typed values.
/// @param size number of values
std::string compound(int size);
}  // namespace traci

/// A request to read or set a variable of an object, such as a vehicle.
struct TraciRequest {
  int command = 0;   ///< such as libsumo::CMD_GET_VEHICLE_VARIABLE
  int variable = 0;  ///< such as libsumo::VAR_SPEED
  std::string object;
  std::string parameters = {};  ///< typed values
};

/// Reads the values of an answer one after the other. The functions typed_...() and compound() read
/// a value that has its type in front. Each call throws WorkerError if the answer ends early or has
/// a value of another type.
class TraciReader {
 public:
  explicit TraciReader(std::string bytes) : bytes_(std::move(bytes)) {}
  int ubyte();
  int int32();
  double real();
  std::string text();

  int typed_int();
  double typed_real();
  std::string typed_text();
  std::vector<std::string> typed_texts();
  /// @return number of values in the compound
  int compound();
  /// Makes a reader of the next `size` bytes, and goes on behind them.
  TraciReader part(std::size_t size);
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::string_view take(std::size_t size);
  void expect(int type);
  std::string bytes_;
  std::size_t at_ = 0;
};

/// A connection to a running SUMO. SUMO gives its clients turns in each step; this client ends its
/// turn with step().
class TraciClient {
 public:
  /// Connects, waits until the simulation has all of its clients, and takes its turn.
  /// @throws WorkerError, ConfigError as join_simulation()
  explicit TraciClient(const RunningSimulation& simulation);

  /// The answers to requests for variables, one for each request.
  /// @throws WorkerError with SUMO's own message if it refuses one, or as step()
  std::vector<TraciReader> ask(const std::vector<TraciRequest>& requests);
  /// Like ask(), but the answer to a refused request is nothing.
  std::vector<std::optional<TraciReader>> try_ask(const std::vector<TraciRequest>& requests);
  /// Sets a variable at the end of this turn.
  void set(const TraciRequest& request);
  /// Sends the requests of set() and waits until the simulation has made a step.
  /// @throws WorkerError with SUMO's own message if it refuses something, if the connection ends,
  /// or if SUMO does not answer in time
  void step();
  /// Sends the requests of set() and leaves the simulation. Reports no errors.
  void leave() noexcept;
  /// "127.0.0.1:8813", for messages.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  void connect();
  /// Sends a message and returns the answer.
  TraciReader exchange(const std::string& commands);
  TraciReader send_and_receive(const std::string& commands);
  /// Sends the requests of set() in a message of their own. In the message of a step SUMO would not
  /// answer them.
  void send_queued();
  void send(std::string_view bytes);
  std::string receive(std::size_t size);
  /// Waits until the socket can be read or written.
  void wait(short events);
  void check_version();
  /// @param read called once for each request, with a reader that stands at the answer to that
  ///   request
  template <typename Read>
  void ask_all(const std::vector<TraciRequest>& requests, const Read& read);

  RunningSimulation simulation_;
  std::string address_;
  os::Descriptor socket_;
  std::string queued_;        ///< commands of the next step
  double waits_since_s_ = 0;  ///< time at which this client began to send its last message
  bool has_said_ = false;     ///< whether the user was told that this client waits
};

}  // namespace traffic::sim
