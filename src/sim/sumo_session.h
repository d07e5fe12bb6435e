/// libsumo's one simulation: started, loaded again, closed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace traffic::sim {

class SumoSession {
 public:
  /// @throws Error if there is another one in this process
  SumoSession();
  ~SumoSession();
  SumoSession(const SumoSession&) = delete;
  SumoSession& operator=(const SumoSession&) = delete;

  /// Loads a scenario in place of the present one.
  /// @throws DataError with SUMO's own message
  void load(const std::filesystem::path& sumocfg, std::uint64_t seed,
            const std::vector<std::string>& args);
  void close() noexcept;
};

}  // namespace traffic::sim
