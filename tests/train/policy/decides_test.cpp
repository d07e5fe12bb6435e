#include "train/policy/decides.h"

#include <gtest/gtest.h>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

TEST(CheckpointName, MayEndWithHowToDecide) {
  EXPECT_FALSE(checkpoint_name("meter"));
  const auto without_suffix = checkpoint_name("checkpoint:runs/a,b/best.h5").value();
  EXPECT_EQ(without_suffix.path, "runs/a,b/best.h5");
  EXPECT_FALSE(without_suffix.decides);
  const auto sampled = checkpoint_name("checkpoint:runs/a,b/best.h5,sampled").value();
  EXPECT_EQ(sampled.path, "runs/a,b/best.h5");
  EXPECT_EQ(sampled.decides, Decides::kSampled);
  EXPECT_EQ(checkpoint_name("checkpoint:x.h5,greedy")->decides, Decides::kGreedy);
}

TEST(Decides, IsStoredInCheckpoints) {
  checkpoint::Snapshot older;
  EXPECT_EQ(decides_in(older), Decides::kGreedy);
  for (const Decides decides : {Decides::kGreedy, Decides::kSampled}) {
    checkpoint::Snapshot snapshot;
    put_decides(snapshot, decides);
    EXPECT_EQ(decides_in(snapshot), decides);
  }
  checkpoint::Snapshot odd;
  odd.put_text("decides", "by dice");
  EXPECT_THROW(decides_in(odd), CheckpointError);
}

}  // namespace
}  // namespace traffic::train
