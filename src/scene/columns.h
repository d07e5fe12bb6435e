/// Column numbers of the three feature tables of frame.h: nodes (vehicles), edges (pairs of
/// neighbours) and the whole traffic. "Foe" in a name stands for the conflicting approaches: those
/// whose streams the vehicle's own stream meets.
#pragma once

namespace traffic::scene {

/// Columns of node_features(); the table in features.cpp explains each.
enum NodeColumn : int {
  kPosition,
  kSpeed,
  kAcceleration,
  kLaneIndex,
  kRemaining,
  kCompletion,
  kIsCv,
  kTimeSin,
  kTimeCos,
  kSpeedLimit,
  kSpeedRatio,
  kLineDistance,
  kLineNear,
  kOnMinor,
  kOnMajor,
  kInZone,
  kDownstream,
  kFirstCv,
  kAhead,
  kBehind,
  kLaneEnd,
  kLaneEnds,
  kLeaderGap,
  kLeaderSpeed,
  kFollowerGap,
  kFollowerSpeed,
  kCommanded,
  kCommitLeft,
  kOthersHeld,
  kOwnVehicles,
  kOwnQueue,
  kOwnBacklog,
  kOwnPassed,
  kOwnDensity,
  kOwnSpeed,
  kFoeVehicles,
  kFoeQueue,
  kFoeBacklog,
  kFoePassed,
  kFoeDensity,
  kFoeSpeed,
  kZoneDensity,
  kZoneSpeed,
  kDownstreamDensity,
  kDownstreamSpeed,
  kSignalRed,
  kSignalChange,
  kSignalCycle,
  kFoeSignal,
  kFoeGreen,
  kFoeChange,
  kFoeCycle,
  kNumNodeColumns,
};

enum EdgeColumn : int { kEdgeDistance, kEdgeSpeed, kEdgeTtc, kEdgeThw, kNumEdgeColumns };

enum GlobalColumn : int {
  kMeanSpeed,
  kSpeedDeviation,
  kMinSpeed,
  kMaxSpeed,
  kMeanAccel,
  kMeanAbsAccel,
  kHardBrakes,
  kHaltedShare,
  kSlowShare,
  kNumVehicles,
  kNumCvs,
  kCvSpeed,
  kMeanCompletion,
  kWaiting,
  kArrivedLately,
  kTimeShare,
  kNumGlobalColumns,
};

// Limits to which features are clipped, and the period of the features of time.
inline constexpr double kLineFarM = 400.0;
inline constexpr double kLineNearM = 100.0;
inline constexpr double kSignalChangeCapS = 120.0;
inline constexpr double kEdgeTimeCapS = 10.0;
inline constexpr double kTimePeriodS = 3600.0;

}  // namespace traffic::scene
