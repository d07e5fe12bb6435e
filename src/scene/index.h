/// at() returns an element of a container by a signed index. The indices in a Road have the type
/// int, but containers expect an unsigned one.
#pragma once

#include <cstddef>

namespace traffic::scene {

template <typename Container>
decltype(auto) at(Container&& items, int index) {
  return items[static_cast<std::size_t>(index)];
}

}  // namespace traffic::scene
