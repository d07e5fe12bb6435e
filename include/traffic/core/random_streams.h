/// The numbers of all streams of random numbers that the programs derive from a seed with
/// derive_seed() (random.h). One list contains them all: two streams with the same number and seed
/// would draw the same random numbers. The numbers in the list must never change, because the same
/// seed would then give another run. In the comments, "by ..." lists the further numbers that
/// derive_seed() gets.
#pragma once

#include <cstdint>

namespace traffic {

enum RandomStream : std::uint64_t {
  // Streams derived from the key run.seed.
  kLoaderStream = 1,            ///< seed of the loader of world-model training
  kEncoderStream = 2,           ///< initial weights of the graph encoder
  kWorldModelStream = 3,        ///< initial weights of the world model
  kControllerStream = 4,        ///< initial weights of the vehicles' policy and its value network
  kCostCriticStream = 5,        ///< initial weights of the cost critic
  kPolicyMinibatchStream = 11,  ///< PPO's minibatches, by iteration and epoch
  kValueMinibatchStream = 12,   ///< minibatches of the value network, by iteration and epoch
  kImitationStream = 13,        ///< minibatches of imitation, by iteration and epoch
  kCostMinibatchStream = 14,    ///< the cost critic's minibatches, by iteration and epoch
  kTrafficStream = 31,          ///< traffic seeds of training episodes
  kSamplingStream = 32,         ///< sampling seeds of actions
  kScenarioStream = 33,         ///< scenarios of training episodes
  kPieceStream = 34,            ///< at which time of the scenario a training episode begins
  kDemandScaleStream = 61,      ///< demands of training episodes of traffic lights
  kLightSamplingStream = 62,    ///< sampling seeds of lights when vehicles sample actions too
  kNetworkStream = 41,          ///< initial weights of off-policy learners
  kGameStream = 42,             ///< games to learn from, by board and by number of the game
  kOpponentStream = 43,         ///< the opponent in a game, by board and by number of the game
  kExplorationStream = 44,      ///< random actions of snakes in training, by rank and step
  kReplayStream = 45,           ///< transitions drawn from the replay, by rank and update
  kPastSelfStream = 46,         ///< which earlier version of the policy plays, by rank and round
  kSelectionGameStream = 47,    ///< games of evaluations while training
  kDrivingStream = 71,          ///< initial weights of the driving policy
  kDrivingLoaderStream = 72,    ///< seed of the loader of driving training
  kAnchorStream = 73,           ///< k-means that finds the typical plans (anchors) of driving
  // Streams derived from an episode's seed.
  kRetryStream = 21,          ///< seed of an episode's next attempt, by number of failed attempts
  kConnectedStream = 0x6376,  ///< "cv" in ASCII: which vehicles are connected
  kRandomControllerStream = 0x72616e64,  ///< "rand": commands of the random controller
  kDecisionStream = 0x64656369646573,    ///< "decides": sampled decisions in evaluations
  // Streams derived from an episode's sampling seed, from which the policy draws random decisions.
  kDriverStream = 0x647269766572,  ///< "driver": whether script or policy drives in imitation
  // Streams derived from the seed of the loader of a data set.
  kBlockStream = 0x626c6f636b73,           ///< "blocks": order of the blocks of samples in an epoch
  kSampleStream = 0x73616d706c6573,        ///< "samples": order within the shuffle window
  kAugmentationStream = 0x6175676d656e74,  ///< "augment": changes of a sample in an epoch
};

/// Streams derived from the first traffic seed of a recording.
enum RecordingStream : std::uint64_t {
  kSplitStream = 1,      ///< which episodes are for training, validation and test
  kControllerMixStream,  ///< which controller drives which episode
  kDemandStream,         ///< which demand an episode has
};

/// Streams derived from the option --seed of the program data_prep split.
enum SplittingStream : std::uint64_t {
  kGroupStream = 1,  ///< order in which groups of episodes are assigned to splits
};

/// Streams derived from the seed in the table that configures the program traffic_tune.
enum TuningStream : std::uint64_t {
  kTrialStream = 1,  ///< the settings of a trial, by number of the trial
};

}  // namespace traffic
