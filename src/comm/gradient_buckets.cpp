// Divides gradients into buckets and decides in which order they are reduced (gradient_buckets.h).
#include "gradient_buckets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::comm {

std::vector<Bucket> cut_buckets(const std::vector<ArenaEntry>& entries, std::int64_t flat_numel,
                                std::int64_t cap_bytes) {
  std::vector<Bucket> buckets;
  std::int64_t end = flat_numel;
  std::size_t last = entries.size();
  while (last > 0) {
    const std::int64_t limit = buckets.empty() ? std::min(cap_bytes, kFirstBucketBytes) : cap_bytes;
    const std::int64_t limit_numel = limit / static_cast<std::int64_t>(sizeof(float));
    std::size_t first = last - 1;
    while (first > 0 && end - entries[first - 1].offset <= limit_numel) --first;
    buckets.push_back({.offset = entries[first].offset,
                       .numel = end - entries[first].offset,
                       .first_parameter = first,
                       .num_parameters = last - first});
    end = entries[first].offset;
    last = first;
  }
  return buckets;
}

BucketQueue::BucketQueue(const std::vector<Bucket>& buckets) : order_(buckets.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const Bucket& bucket = buckets[b];
    sizes_.push_back(bucket.num_parameters);
    bucket_of_.resize(std::max(bucket_of_.size(), bucket.first_parameter + bucket.num_parameters));
    std::fill_n(bucket_of_.begin() + static_cast<std::ptrdiff_t>(bucket.first_parameter),
                bucket.num_parameters, b);
  }
}

void BucketQueue::start(const std::vector<bool>& is_unused) {
  TRAFFIC_CHECK(
      is_unused.size() == bucket_of_.size(),
      "there are {} parameters, but is_unused has {} entries; expected one for each parameter",
      bucket_of_.size(), is_unused.size());
  ready_ = is_unused;
  missing_ = sizes_;
  completed_.clear();
  next_ = 0;
  for (std::size_t p = 0; p < ready_.size(); ++p) {
    if (ready_[p] && --missing_[bucket_of_[p]] == 0) complete(bucket_of_[p]);
  }
}

std::vector<std::size_t> BucketQueue::mark_ready(std::size_t parameter) {
  if (ready_.at(parameter)) {
    throw Error(
        "a parameter got a gradient after it was ready to be reduced: it was declared unused, or "
        "backward ran twice between before_backward() and after_backward()");
  }
  ready_[parameter] = true;
  if (--missing_[bucket_of_[parameter]] == 0) complete(bucket_of_[parameter]);
  return take_ready();
}

std::vector<std::size_t> BucketQueue::take_ready() {
  std::vector<std::size_t> taken;
  while (next_ < order_.size() && missing_[order_[next_]] == 0) taken.push_back(order_[next_++]);
  return taken;
}

std::vector<std::size_t> BucketQueue::finish() {
  const std::vector<std::size_t> rest(order_.begin() + static_cast<std::ptrdiff_t>(next_),
                                      order_.end());
  next_ = order_.size();
  return rest;
}

std::vector<std::size_t> BucketQueue::completion_order() const {
  std::vector<std::size_t> order = completed_;
  for (std::size_t b = 0; b < sizes_.size(); ++b) {
    if (std::ranges::find(completed_, b) == completed_.end()) order.push_back(b);
  }
  return order;
}

void BucketQueue::set_order(std::vector<std::size_t> order) {
  TRAFFIC_CHECK(std::ranges::is_permutation(order, order_),
                "the order is not a permutation of the {} buckets", order_.size());
  order_ = std::move(order);
}

}  // namespace traffic::comm
