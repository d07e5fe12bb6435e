/// Settings of this process that libsumo depends on.
#pragma once

namespace traffic::sim {

/// Sets the locale and the folder of projections that libsumo needs. Settings that the user has
/// made stay. Must be called before anything else of libsumo.
void prepare_process();

}  // namespace traffic::sim
