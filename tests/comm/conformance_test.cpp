// Checks the requirements on every communicator, with each backend that the machine has.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <thread>

#include "backends.h"
#include "traffic/core/clock.h"

namespace traffic::comm {
namespace {

using ::testing::HasSubstr;

class ConformanceTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (HasFatalFailure()) return;
    comm_ = make_backend(GetParam());
    rank_ = comm_->rank();
    size_ = comm_->size();
  }

  /// Input of rank r, which every rank can compute.
  [[nodiscard]] at::Tensor input_of(int r, std::int64_t count, at::ScalarType type) const {
    at::manual_seed(1000 + static_cast<std::uint64_t>(r));
    const at::Tensor values = at::randn({count}, at::kDouble) * 100.0;
    return values.to(type).to(comm_->device());
  }

  /// The sum over ranks in the documented order. The ranks are divided into two groups: the first
  /// has the largest power of two of ranks that is below `count`. The sum of each group is computed
  /// in the same way, and the two sums are added.
  template <typename Input>
  [[nodiscard]] at::Tensor sum_of_ranks(int first, int count, Input&& input) const {
    if (count == 1) return input(first);
    int left = 1;
    while (2 * left < count) left *= 2;
    return sum_of_ranks(first, left, input) + sum_of_ranks(first + left, count - left, input);
  }
  template <typename Input>
  [[nodiscard]] at::Tensor sum_in_order(Input&& input) const {
    return sum_of_ranks(0, size_, input);
  }

  void expect_sum(const at::Tensor& found, const at::Tensor& expected) const {
    if (GetParam().on_cuda) {
      // NCCL sums in its own order: the results differ by a few roundings of float32.
      EXPECT_TRUE(at::allclose(found, expected, 1e-5, 1e-3));
    } else {
      EXPECT_TRUE(at::equal(found, expected));
    }
  }

  std::unique_ptr<Communicator> comm_;
  int rank_ = 0;
  int size_ = 0;
};

// Numbers of elements. Tensors up to 16 KiB (4096 floats) are reduced in a simpler way, larger ones
// in stages of 512 KiB (131072 floats). The last number does not divide evenly among ranks.
constexpr std::int64_t kCounts[] = {1, 3, 1000, 4096, 4097, 131072, 300001};

TEST_P(ConformanceTest, SumsEveryTypeInRankOrder) {
  for (const auto type : {at::kFloat, at::kDouble, at::kInt, at::kLong}) {
    for (const std::int64_t count : kCounts) {
      const at::Tensor tensor = input_of(rank_, count, type);
      comm_->all_reduce(tensor);
      SCOPED_TRACE(::testing::Message() << at::toString(type) << " x " << count);
      expect_sum(tensor, sum_in_order([&](int r) { return input_of(r, count, type); }));
    }
  }
}

TEST_P(ConformanceTest, SumsTwoHalfTypesInFloat32AndRounds) {
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const at::Tensor tensor = input_of(rank_, 50000, type);
    comm_->all_reduce(tensor);
    if (!GetParam().on_cuda) {  // NCCL has its own order
      EXPECT_TRUE(at::equal(tensor, sum_in_order([&](int r) { return input_of(r, 50000, type); })));
    }
    const at::Tensor exact =
        sum_of_ranks(0, size_, [&](int r) { return input_of(r, 50000, type).to(at::kDouble); });
    // A result is rounded at most twice, each time by less than 2^-11 (float16) or 2^-8 (bfloat16)
    // of its value. The largest value is about 600 * sqrt(size).
    const double ulp = type == at::kHalf ? 0x1p-11 : 0x1p-8;
    EXPECT_LE((tensor.to(at::kDouble) - exact).abs().max().item<double>(),
              ulp * 2 * 600 * std::sqrt(size_));
  }
}

TEST_P(ConformanceTest, GivesTheSameBitsAsOnOneNode) {
  if (GetParam().on_cuda) return;  // NCCL has its own order
  const auto one_node = make_backend({"OneNode"});
  for (const std::int64_t count :
       {std::int64_t{7}, std::int64_t{40'000}, std::int64_t{2'500'001}}) {
    const at::Tensor here = comm_->shared_zeros(count, at::kFloat);
    const at::Tensor there = one_node->shared_zeros(count, at::kFloat);
    here.copy_(input_of(rank_, count, at::kFloat));
    there.copy_(here);
    const double scale = 1.0 / (3.0 + rank_);
    EXPECT_EQ(comm_->all_reduce_scaled(here, scale), one_node->all_reduce_scaled(there, scale));
    EXPECT_TRUE(at::equal(here, there)) << count;
  }
}

TEST_P(ConformanceTest, FindsMaximumAndMinimum) {
  for (const std::int64_t count : {std::int64_t{5}, std::int64_t{200000}}) {
    at::Tensor highest = input_of(0, count, at::kFloat);
    at::Tensor lowest = highest.clone();
    for (int r = 1; r < size_; ++r) {
      highest = at::maximum(highest, input_of(r, count, at::kFloat));
      lowest = at::minimum(lowest, input_of(r, count, at::kFloat));
    }
    at::Tensor tensor = input_of(rank_, count, at::kFloat);
    comm_->all_reduce(tensor, ReduceOp::kMax);
    EXPECT_TRUE(at::equal(tensor, highest));
    tensor = input_of(rank_, count, at::kFloat);
    comm_->all_reduce(tensor, ReduceOp::kMin);
    EXPECT_TRUE(at::equal(tensor, lowest));
  }
}

TEST_P(ConformanceTest, ANanOfOneRankReachesAllRanks) {
  for (const auto op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin}) {
    const double mine = rank_ == size_ - 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    EXPECT_TRUE(std::isnan(comm_->all_reduce_scalar(mine, op)));
  }
}

TEST_P(ConformanceTest, RepeatsToTheBitAndEqualsOnAllRanks) {
  const at::Tensor first = input_of(rank_, 100003, at::kFloat);
  const at::Tensor second = first.clone();
  comm_->all_reduce(first);
  comm_->all_reduce(second);
  EXPECT_TRUE(at::equal(first, second));
  EXPECT_NO_THROW(check_replicas_equal(*comm_, first, "sum"));
}

TEST_P(ConformanceTest, BroadcastsFromEveryRoot) {
  for (int root = 0; root < size_; ++root) {
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{150001}}) {
      const at::Tensor tensor = input_of(rank_, count, at::kFloat);
      comm_->broadcast(tensor, root);
      EXPECT_TRUE(at::equal(tensor, input_of(root, count, at::kFloat)));
    }
  }
}

TEST_P(ConformanceTest, GathersARowFromEachRank) {
  for (const std::int64_t count : {std::int64_t{2}, std::int64_t{300000}}) {
    const at::Tensor rows =
        comm_->all_gather(input_of(rank_, count, at::kFloat).view({count / 2, 2}));
    ASSERT_EQ(rows.sizes(), (std::vector<std::int64_t>{size_, count / 2, 2}));
    for (int r = 0; r < size_; ++r) {
      EXPECT_TRUE(at::equal(rows[r].flatten(), input_of(r, count, at::kFloat)));
    }
  }
}

TEST_P(ConformanceTest, EmptyTensorsStayEmpty) {
  const at::Tensor empty = at::empty({0}, at::TensorOptions().device(comm_->device()));
  comm_->all_reduce(empty);
  comm_->broadcast(empty, 0);
  EXPECT_EQ(comm_->all_gather(empty).numel(), 0);
  EXPECT_EQ(comm_->all_reduce_scalar(1.0), size_);
}

TEST_P(ConformanceTest, NoRankLeavesABarrierBeforeTheLastArrives) {
  // The steady clock counts from the same moment in all processes of a machine.
  std::this_thread::sleep_for(std::chrono::milliseconds(30 * rank_));
  const double came = steady_seconds();
  comm_->barrier();
  const double left = steady_seconds();
  EXPECT_GE(left, comm_->all_reduce_scalar(came, ReduceOp::kMax));
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST_P(ConformanceTest, AWaitingRankLeavesTheCoreToOthers) {
  const double before = cpu_seconds();
  if (rank_ == size_ - 1) std::this_thread::sleep_for(std::chrono::milliseconds(400));
  comm_->barrier();
  // Processor time, not wall time: a spinning rank would use all 0.4 s.
  EXPECT_LT(cpu_seconds() - before, 0.2);
}

TEST_P(ConformanceTest, HostValuesAreEqualOnAllRanks) {
  EXPECT_EQ(comm_->all_reduce_scalar(rank_ + 1.0), size_ * (size_ + 1) / 2.0);
  EXPECT_EQ(comm_->all_reduce_scalar(rank_, ReduceOp::kMax), size_ - 1);
  const std::string long_text(1500000, 'x');
  EXPECT_EQ(comm_->broadcast_string(rank_ == 1 ? "from one" : "", 1), "from one");
  EXPECT_EQ(comm_->broadcast_string(rank_ == 0 ? long_text : "other", 0), long_text);
  EXPECT_EQ(comm_->broadcast_string("", 0), "");
  const auto texts = comm_->gather_strings(std::string(static_cast<std::size_t>(rank_), 'r'), 1);
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(rank_ == 1 ? size_ : 0));
  for (std::size_t r = 0; r < texts.size(); ++r) EXPECT_EQ(texts[r], std::string(r, 'r'));
}

TEST_P(ConformanceTest, DisagreementNamesTheRanksThatDiffer) {
  EXPECT_NO_THROW(comm_->all_agree(0xFFFFFFFFFFFFFFFFU, "the config"));
  try {
    comm_->all_agree(rank_ == 1 ? 7 : 5, "the config");
    FAIL() << "expected an error: the hashes differ";
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the config differs: rank 0 has 0000000000000005"));
    EXPECT_THAT(error.what(), HasSubstr("rank 1 0000000000000007"));
  }
  EXPECT_EQ(comm_->all_reduce_scalar(1.0), size_)
      << "the communicator must still work after a disagreement";
}

TEST_P(ConformanceTest, ReducesSharedMemoryLikeOtherMemory) {
  const at::Tensor arena = comm_->shared_zeros(300001, at::kFloat);
  EXPECT_EQ(arena.count_nonzero().item<std::int64_t>(), 0);
  const at::Tensor plain = input_of(rank_, 300001, at::kFloat);
  arena.copy_(plain);
  comm_->all_reduce(plain);
  comm_->all_reduce(arena);
  EXPECT_TRUE(at::equal(arena, plain));

  const at::Tensor part = arena.narrow(0, 1600, 20001);  // only a part of the arena is reduced
  part.copy_(input_of(rank_, 20001, at::kFloat));
  comm_->all_reduce(part, ReduceOp::kMax);
  EXPECT_TRUE(at::equal(arena.narrow(0, 0, 1600), plain.narrow(0, 0, 1600)));
  EXPECT_NO_THROW(check_replicas_equal(*comm_, arena, "arena"));
}

TEST_P(ConformanceTest, SharedMemoryCanBeReleasedAndAllocatedAgain) {
  for (int i = 0; i < 5; ++i) {
    const at::Tensor arena = comm_->shared_zeros(100000, at::kLong);
    arena.fill_(rank_ + i);
    comm_->all_reduce(arena);
    const std::int64_t expected = static_cast<std::int64_t>(size_) * (size_ - 1) / 2 + i * size_;
    EXPECT_TRUE((arena == expected).all().item<bool>());
  }
}

TEST_P(ConformanceTest, TooMuchSharedMemoryIsRefusedOnAllRanks) {
  if (GetParam().on_cuda) return;  // the CUDA allocator has its own error
  EXPECT_THROW(comm_->shared_zeros(std::int64_t{1} << 50, at::kFloat), ResourceError);
  EXPECT_EQ(comm_->all_reduce_scalar(1.0), size_) << "the communicator must still work";
}

TEST_P(ConformanceTest, WeightsRanksAndReturnsTheSquaredNorm) {
  const double scale = 0.25 * (rank_ + 1);
  for (const bool in_arena : {true, false}) {
    at::Tensor tensor = input_of(rank_, 100003, at::kFloat);
    if (in_arena) {
      const at::Tensor arena = comm_->shared_zeros(100003, at::kFloat);
      arena.copy_(tensor);
      tensor = arena;
    }
    const double squares = comm_->all_reduce_scaled(tensor, scale);
    const at::Tensor expected =
        sum_in_order([&](int r) { return input_of(r, 100003, at::kFloat) * (0.25 * (r + 1)); });
    expect_sum(tensor, expected);
    const double norm = expected.to(at::kDouble).norm().item<double>();
    // Both are sums of 1e5 squares in float64, added in different orders. NCCL's results also
    // differ in the rounding to float32.
    EXPECT_NEAR(squares / (norm * norm), 1.0, GetParam().on_cuda ? 1e-6 : 1e-11);
    const double highest = comm_->all_reduce_scalar(squares, ReduceOp::kMax);
    EXPECT_EQ(squares, highest) << "all ranks must get the same bits";
  }
}

TEST_P(ConformanceTest, AnInfinityShowsInTheSquaredNormOfAllRanks) {
  const at::Tensor arena = comm_->shared_zeros(5000, at::kFloat);
  if (rank_ == size_ - 1) arena[4999] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(comm_->all_reduce_scaled(arena, 0.5)));
}

TEST_P(ConformanceTest, RefusesTensorsThatItCannotReduce) {
  const at::Tensor columns = at::zeros({4, 4}).t();
  EXPECT_THROW(comm_->all_reduce(columns), ShapeError);
  EXPECT_THROW(comm_->all_reduce(at::zeros({4}, at::kBool)), ShapeError);
  EXPECT_THROW(comm_->all_reduce(at::Tensor()), ShapeError);
  EXPECT_EQ(comm_->all_reduce_scalar(1.0), size_)
      << "the refused calls sent something to other ranks";
}

INSTANTIATE_TEST_SUITE_P(Backends, ConformanceTest, ::testing::ValuesIn(all_backends()),
                         backend_name);

}  // namespace
}  // namespace traffic::comm
