#include "train/world_model/prediction_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace traffic::train {
namespace {

TEST(RocHistogram, CountsOrderedPairsFullyAndTiesHalf) {
  RocHistogram roc;
  for (const double score : {0.1, 0.4, 0.6}) roc.add(score, false);
  for (const double score : {0.4, 0.9}) roc.add(score, true);
  // There are six pairs of a positive and a negative sample. The positive 0.4 beats 0.1 and ties
  // with 0.4, which counts 1.5, and 0.9 beats all three negatives.
  EXPECT_DOUBLE_EQ(roc.auc(), 4.5 / 6.0);
  EXPECT_DOUBLE_EQ(roc.base_rate(), 0.4);
}

TEST(RocHistogram, IsNotANumberWithoutBothClasses) {
  RocHistogram roc;
  EXPECT_TRUE(std::isnan(roc.auc()));
  roc.add(1.0, true);
  EXPECT_TRUE(std::isnan(roc.auc()));
  EXPECT_DOUBLE_EQ(roc.base_rate(), 1.0);
}

TEST(HorizonErrors, KeepsPredictorsAndHorizonsApartAndAddsUpOverRanks) {
  HorizonErrors errors(2);
  errors.add(HorizonErrors::kModel, 1, 3.0, 1.0);
  errors.add(HorizonErrors::kModel, 1, 4.0, 1.0);
  errors.add(HorizonErrors::kConstantVelocity, 0, 2.0, 5.0);
  HorizonErrors other(2);
  other.add(HorizonErrors::kModel, 1, 5.0, 2.0);
  for (std::size_t i = 0; i < errors.sums().size(); ++i) errors.sums()[i] += other.sums()[i];
  EXPECT_DOUBLE_EQ(errors.position_rmse_m(HorizonErrors::kModel, 1), std::sqrt(50.0 / 3.0));
  EXPECT_DOUBLE_EQ(errors.speed_rmse_mps(HorizonErrors::kModel, 1), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(errors.speed_rmse_mps(HorizonErrors::kConstantVelocity, 0), 5.0);
  EXPECT_TRUE(std::isnan(errors.position_rmse_m(HorizonErrors::kModel, 0)));
}

TEST(ConstantAcceleration, StopsInsteadOfReversing) {
  const auto [displacement_m, speed_mps] = constant_acceleration_prediction(4.0, -2.0, 5.0);
  EXPECT_DOUBLE_EQ(displacement_m, 4.0);
  EXPECT_DOUBLE_EQ(speed_mps, 0.0);
  EXPECT_DOUBLE_EQ(constant_acceleration_prediction(10.0, 1.0, 2.0).first, 22.0);
}

}  // namespace
}  // namespace traffic::train
