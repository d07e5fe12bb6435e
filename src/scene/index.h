/// Element of a vector by a signed index; the indices of a Road are int.
#pragma once

#include <cstddef>

namespace traffic::scene {

template <typename Container>
decltype(auto) at(Container&& items, int index) {
  return items[static_cast<std::size_t>(index)];
}

}  // namespace traffic::scene
