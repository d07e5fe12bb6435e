/// Settings of this process that libsumo depends on.
#pragma once

namespace traffic::sim {

/// Sets the locale and the folder of map projections that libsumo needs. Keeps settings that the
/// user has made. Must be called before any function of libsumo.
void prepare_process();

}  // namespace traffic::sim
