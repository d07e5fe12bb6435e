/// The C interface of libtraffic_env.so: runs SUMO simulations whose traffic lights another program
/// commands, for example a learner in Python (launch/python/traffic_env.py).
///
/// A pool runs several simulations at the same time, each in a process of its own. An episode of a
/// simulation begins with traffic_env_reset(). Each traffic_env_step() then simulates one control
/// period (env.control_period_s). Both calls return at once; traffic_env_wait() waits for the
/// answer. A program that orders a step of every simulation before it waits for the first answer
/// lets all simulations work at the same time.
///
/// All functions but traffic_env_error() and traffic_env_close() return 0, or the exit code that
/// traffic_train would end with (docs/reference/exit-codes.md); traffic_env_error() is then the
/// message. No exception leaves the library. A pool belongs to the process that opened it, and two
/// threads must not use it at the same time. Its simulations end when the thread ends that opened
/// it.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Number of this interface. It changes whenever a struct or a function changes.
#define TRAFFIC_ENV_INTERFACE 1

/// A pool of simulations.
typedef struct traffic_env traffic_env;

/// Sizes and names that are the same in all simulations and episodes of a pool. The pointers are
/// valid until traffic_env_close(). L is num_lights.
typedef struct {
  int32_t num_simulations;
  int32_t num_lights;
  int32_t max_options;  ///< maximum number of options of a light
  int32_t num_features;
  double control_period_s;
  double max_time_s;            ///< value of env.max_time_s; 0: an episode ends with the scenario
  const int32_t* num_options;   ///< [L] number of options of each light; 0 if it has no choice
  const char* const* lights;    ///< [L] SUMO's id of each traffic light
  const char* const* features;  ///< [num_features] names of the features of an option
} traffic_env_layout;

/// The state of a simulation after a reset or a step. The pointers are valid until the next reset
/// or step of this simulation. L is num_lights, O is max_options, F is num_features.
typedef struct {
  double time_s;       ///< simulated time since the start of the episode
  int32_t terminated;  ///< 1: the scenario has reached its end
  int32_t truncated;   ///< 1: the episode has ended at env.max_time_s
  const float*
      observations;      ///< [L, O, F] features of the options, as the policies of
                         ///< traffic_train observe them; zeros after the last option of a light
  const uint8_t* mask;   ///< [L, O] 1 for the options that the light may choose now
  const float* rewards;  ///< [L] minus lights.reward_scale times the seconds that vehicles
                         ///< lost before the light in the last control period
  double lost_s;   ///< time that vehicles have lost since the start of the episode, on the road and
                   ///< while they waited to enter
  double delay_s;  ///< lost_s divided by the number of vehicles that departed or wait to enter
  int64_t arrived;  ///< vehicles that have reached their destination
} traffic_env_answer;

/// Value of TRAFFIC_ENV_INTERFACE with which the library was built.
int32_t traffic_env_interface(void);

/// The message of the last function that failed in this thread, in UTF-8.
const char* traffic_env_error(void);

/// Starts a pool of simulations and runs the first observation of an episode, which shows the
/// layout. The programs rollout_worker and sumo_env must be in the folder of the library.
/// @param config_file a configuration of traffic_train (TOML) with one scenario and env.agents =
///   ["lights"]; empty or null for the defaults
/// @param settings [num_settings] texts "key=value" as after --set; they replace values of the file
/// @param num_simulations 1 to 256; replaces rollout.workers and rollout.envs_per_worker
/// @param env set to the new pool, or to null after an error
int traffic_env_open(const char* config_file, const char* const* settings, int32_t num_settings,
                     int32_t num_simulations, traffic_env** env);

/// @param layout overwritten
int traffic_env_layout_of(const traffic_env* env, traffic_env_layout* layout);

/// Orders a new episode, even if the last one has not ended. If the answer to the last order has
/// not been waited for, this function waits for it and discards it.
/// @param seed determines everything random in the episode
/// @param demand_scale factor on the demand of the scenario; 1 leaves it unchanged
int traffic_env_reset(traffic_env* env, int32_t simulation, uint64_t seed, double demand_scale);

/// Orders one control period. The last answer must have been waited for and must not have ended the
/// episode.
/// @param options [num_lights] index of the option that each light shows next, from 0 to
///   max_options - 1. A light keeps what it shows if its mask does not allow the option.
int traffic_env_step(traffic_env* env, int32_t simulation, const int32_t* options);

/// Waits for the answer to the last order of this simulation. If the simulation has failed, its
/// episode is lost, and the error tells why; traffic_env_reset() begins a new episode.
/// @param answer overwritten
int traffic_env_wait(traffic_env* env, int32_t simulation, traffic_env_answer* answer);

/// Ends the simulations and frees the pool. Does nothing if env is null, or in a process that has
/// been forked from the one that opened the pool.
void traffic_env_close(traffic_env* env);

#ifdef __cplusplus
}
#endif
