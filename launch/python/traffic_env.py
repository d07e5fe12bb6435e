"""Traffic lights in SUMO as environments of Gymnasium and PettingZoo, for learners written in Python.

  ParallelLights  pettingzoo.ParallelEnv: each traffic light is an agent
  SharedLights    gymnasium.vector.VectorEnv: one policy for all lights of all simulations; for_sb3() makes a VecEnv of
                  Stable-Baselines3 from it
  AllLights       gymnasium.Env: one agent commands all lights

The simulations are those in which traffic_train trains. libtraffic_env.so (include/traffic/apps/traffic_env.h) runs
them in processes of their own, so a simulation that fails does not end the learner. docs/guide/python.md has examples.

A light has options, the greens that it can show. Its observation has a row of features for each option; rows beyond its
last option are zero. Its action is the index of an option. info["action_mask"] tells which options it may choose now; a
light keeps what it shows if its mask does not allow the action. Its reward is minus the time that vehicles lose before
it, times lights.reward_scale. A step simulates env.control_period_s seconds.
"""
import ctypes, json, weakref
from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np

try:
    from pettingzoo import ParallelEnv
except ImportError:  # ParallelLights then has the same methods, but is no pettingzoo.ParallelEnv
    ParallelEnv = object

INTERFACE = 1  # the value of TRAFFIC_ENV_INTERFACE that the structs below belong to
LIBRARY = Path(__file__).resolve().parents[2] / "libtraffic_env.so"  # a link that ./launch/build.sh makes
SEEDS = 2**31  # random episodes have seeds below this number


class TrafficError(RuntimeError):
    """An error of the library. `code` is the exit code that traffic_train would end with (docs/reference/exit-codes.md)."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class _Layout(ctypes.Structure):  # traffic_env_layout
    _fields_ = [("num_simulations", ctypes.c_int32), ("num_lights", ctypes.c_int32), ("max_options", ctypes.c_int32),
                ("num_features", ctypes.c_int32), ("control_period_s", ctypes.c_double), ("max_time_s", ctypes.c_double),
                ("num_options", ctypes.POINTER(ctypes.c_int32)), ("lights", ctypes.POINTER(ctypes.c_char_p)),
                ("features", ctypes.POINTER(ctypes.c_char_p))]


class _Answer(ctypes.Structure):  # traffic_env_answer
    _fields_ = [("time_s", ctypes.c_double), ("terminated", ctypes.c_int32), ("truncated", ctypes.c_int32),
                ("observations", ctypes.POINTER(ctypes.c_float)), ("mask", ctypes.POINTER(ctypes.c_uint8)),
                ("rewards", ctypes.POINTER(ctypes.c_float)), ("lost_s", ctypes.c_double), ("delay_s", ctypes.c_double),
                ("arrived", ctypes.c_int64)]


def _load(path):
    path = path or LIBRARY
    if not Path(path).exists():
        raise TrafficError(f"there is no library {path}; build it with ./launch/build.sh", 2)
    library = ctypes.CDLL(str(path))
    library.traffic_env_interface.restype = ctypes.c_int32
    if (found := library.traffic_env_interface()) != INTERFACE:
        raise TrafficError(f"{path} has interface {found}, but {__file__} needs {INTERFACE}: use files of one version", 2)
    handle, text = ctypes.c_void_p, ctypes.c_char_p
    library.traffic_env_error.restype = text
    library.traffic_env_open.argtypes = [text, ctypes.POINTER(text), ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(handle)]
    library.traffic_env_layout_of.argtypes = [handle, ctypes.POINTER(_Layout)]
    library.traffic_env_reset.argtypes = [handle, ctypes.c_int32, ctypes.c_uint64, ctypes.c_double]
    library.traffic_env_step.argtypes = [handle, ctypes.c_int32, ctypes.POINTER(ctypes.c_int32)]
    library.traffic_env_wait.argtypes = [handle, ctypes.c_int32, ctypes.POINTER(_Answer)]
    library.traffic_env_close.argtypes = [handle]
    library.traffic_env_close.restype = None
    return library


class Answer(NamedTuple):
    """State of a simulation after a reset or a step. L lights, at most O options, F features."""
    time_s: float  # simulated time since the start of the episode
    terminated: bool  # the scenario has reached its end
    truncated: bool  # the episode has ended at env.max_time_s
    observations: np.ndarray  # float32 [L, O, F]
    mask: np.ndarray  # bool [L, O]: the options that each light may choose now
    rewards: np.ndarray  # float32 [L]
    lost_s: float  # time that vehicles have lost since the start of the episode
    delay_s: float  # lost_s for each vehicle that departed or waits to enter
    arrived: int  # vehicles that have reached their destination

    @property
    def done(self):
        return self.terminated or self.truncated

    def numbers(self):
        """The measurements for `info` of an environment."""
        return {"time_s": self.time_s, "lost_s": self.lost_s, "delay_s": self.delay_s, "arrived": self.arrived}


class Simulations:
    """A pool of simulations, each in a process of its own. It has the lights that have at least two options.

    config: path of a configuration of traffic_train, or "" for the defaults. Its agents must be ["lights"].
    settings: {key: value}, which replace values of the file, for example {"env.scenario": "lights_grid"}
    library: path of libtraffic_env.so, in whose folder the programs rollout_worker and sumo_env must be

    An object belongs to the process that made it, and its simulations end with the thread that made it.
    """

    def __init__(self, config="", settings=None, num_simulations=1, library=None):
        self._library = _load(library)
        settings = dict(settings or {})
        texts = [f"{key}={json.dumps(value)}".encode() for key, value in settings.items()]
        self._handle = ctypes.c_void_p()
        code = self._library.traffic_env_open(str(config).encode(), (ctypes.c_char_p * len(texts))(*texts), len(texts),
                                              num_simulations, ctypes.byref(self._handle))
        self._check(code)
        self.close = weakref.finalize(self, self._library.traffic_env_close, self._handle)
        layout = _Layout()
        self._call("layout_of", ctypes.byref(layout))
        self.num_simulations = layout.num_simulations
        self.max_options = layout.max_options
        self.control_period_s = layout.control_period_s
        self.max_time_s = layout.max_time_s
        self.features = [layout.features[i].decode() for i in range(layout.num_features)]
        num_options = np.ctypeslib.as_array(layout.num_options, (layout.num_lights,)).copy()
        self._indices = np.flatnonzero(num_options >= 2)  # of the lights with a choice, among all lights
        self._num_all = layout.num_lights
        self.num_options = num_options[self._indices]
        self.lights = [layout.lights[i].decode() for i in self._indices]

    def _check(self, code):
        if code != 0:
            raise TrafficError(self._library.traffic_env_error().decode(), code)

    def _call(self, function, *arguments):
        if not self.close.alive:
            raise TrafficError("the simulations have been closed: make a new object", 2)
        self._check(getattr(self._library, f"traffic_env_{function}")(self._handle, *arguments))

    def reset(self, simulation, seed, demand=1.0):
        """Orders a new episode. `demand` is a factor on the demand of the scenario."""
        self._call("reset", simulation, seed, demand)

    def step(self, simulation, options):
        """Orders one control period. options [L]: index of the option that each light shows next."""
        options = np.asarray(options)
        if options.shape != self._indices.shape:
            raise ValueError(f"found actions of shape {options.shape}, expected {self._indices.shape}, one for each light")
        all_options = np.zeros(self._num_all, np.int32)
        all_options[self._indices] = options
        self._call("step", simulation, all_options.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)))

    def wait(self, simulation):
        """Waits for the answer to the last order."""
        answer = _Answer()
        self._call("wait", simulation, ctypes.byref(answer))

        def copy(pointer, *shape):
            return np.ctypeslib.as_array(pointer, (self._num_all, *shape))[self._indices]

        return Answer(answer.time_s, bool(answer.terminated), bool(answer.truncated),
                      copy(answer.observations, self.max_options, len(self.features)),
                      copy(answer.mask, self.max_options).astype(bool), copy(answer.rewards), answer.lost_s, answer.delay_s,
                      answer.arrived)

    def observation_space(self, *shape):
        """The space of arrays [*shape, O, F]."""
        return gymnasium.spaces.Box(-np.inf, np.inf, (*shape, self.max_options, len(self.features)), np.float32)


def _demand(options):
    return float((options or {}).get("demand", 1.0))


class AllLights(gymnasium.Env):
    """One agent commands all lights. Observation [L, O, F], action [L], reward: the sum over the lights."""
    metadata = {"render_modes": []}

    def __init__(self, config="", settings=None, library=None):
        self.simulations = Simulations(config, settings, 1, library)
        self.observation_space = self.simulations.observation_space(len(self.simulations.lights))
        self.action_space = gymnasium.spaces.MultiDiscrete(self.simulations.num_options)

    def _info(self, answer):
        return {"action_mask": answer.mask, **answer.numbers()}

    def reset(self, *, seed=None, options=None):
        """The episode has the given seed, otherwise a random one. options={"demand": x} scales the demand."""
        super().reset(seed=seed)
        self.simulations.reset(0, int(self.np_random.integers(SEEDS)) if seed is None else seed, _demand(options))
        answer = self.simulations.wait(0)
        return answer.observations, self._info(answer)

    def step(self, action):
        self.simulations.step(0, action)
        answer = self.simulations.wait(0)
        return answer.observations, float(answer.rewards.sum()), answer.terminated, answer.truncated, self._info(answer)

    def close(self):
        self.simulations.close()


class ParallelLights(ParallelEnv):
    """Each light is an agent, named by its id in SUMO. All agents have the same spaces, so that they can share a policy."""
    metadata = {"render_modes": [], "name": "traffic_lights_v0", "is_parallelizable": True}
    render_mode = None

    def __init__(self, config="", settings=None, library=None):
        self.simulations = Simulations(config, settings, 1, library)
        self.possible_agents = list(self.simulations.lights)
        self.agents = []
        self.observation_spaces = {agent: self.simulations.observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(self.simulations.max_options) for agent in self.possible_agents}
        self._random = np.random.default_rng()

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def _by_agent(self, values):
        return dict(zip(self.possible_agents, values))

    def _infos(self, answer):
        return self._by_agent({"action_mask": mask, **answer.numbers()} for mask in answer.mask)

    def reset(self, seed=None, options=None):
        """The episode has the given seed, otherwise a random one. options={"demand": x} scales the demand."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.simulations.reset(0, int(self._random.integers(SEEDS)) if seed is None else seed, _demand(options))
        answer = self.simulations.wait(0)
        self.agents = list(self.possible_agents)
        return self._by_agent(answer.observations), self._infos(answer)

    def step(self, actions):
        if not self.agents:
            raise ValueError("the episode has ended, or none has begun: call reset() before step()")
        self.simulations.step(0, [actions[agent] for agent in self.possible_agents])
        answer = self.simulations.wait(0)
        if answer.done:
            self.agents = []
        count = len(self.possible_agents)
        return (self._by_agent(answer.observations), self._by_agent(map(float, answer.rewards)),
                self._by_agent([answer.terminated] * count), self._by_agent([answer.truncated] * count), self._infos(answer))

    def render(self):
        return None

    def close(self):
        self.simulations.close()


class SharedLights(gymnasium.vector.VectorEnv):
    """One policy for the lights of several simulations, which work at the same time.

    Sub-environment k * L + l is light l of simulation k. When the episode of a simulation ends, the next one begins in
    the same step (autoreset mode SAME_STEP), and infos has "final_obs" and "final_info".
    """
    metadata = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP}

    def __init__(self, config="", settings=None, num_simulations=1, library=None):
        self.simulations = Simulations(config, settings, num_simulations, library)
        self.num_envs = num_simulations * len(self.simulations.lights)
        self.single_observation_space = self.simulations.observation_space()
        self.single_action_space = gymnasium.spaces.Discrete(self.simulations.max_options)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self._demand = 1.0

    def _all(self):
        return range(self.simulations.num_simulations)

    def _begin(self, simulation, seed=None):
        self.simulations.reset(simulation, int(self.np_random.integers(SEEDS)) if seed is None else seed, self._demand)

    def _of_lights(self, values):
        """Repeats a value of each simulation for each of its lights."""
        return np.repeat(np.array(values), len(self.simulations.lights))

    def _infos(self, answers):
        infos = {"action_mask": np.concatenate([answer.mask for answer in answers])}
        infos |= {name: self._of_lights([answer.numbers()[name] for answer in answers]) for name in answers[0].numbers()}
        return infos | {f"_{name}": np.ones(self.num_envs, bool) for name in infos}

    def reset(self, *, seed=None, options=None):
        """Simulation k begins with seed + k; without a seed all seeds are random. options={"demand": x} scales the demand
        of this and all further episodes."""
        super().reset(seed=seed)
        self._demand = _demand(options)
        for k in self._all():
            self._begin(k, None if seed is None else seed + k)
        answers = [self.simulations.wait(k) for k in self._all()]
        return np.concatenate([answer.observations for answer in answers]), self._infos(answers)

    def step(self, actions):
        actions = np.asarray(actions).reshape(self.simulations.num_simulations, -1)
        for k in self._all():
            self.simulations.step(k, actions[k])
        ended = [self.simulations.wait(k) for k in self._all()]
        done = [answer.done for answer in ended]
        for k in np.flatnonzero(done):
            self._begin(int(k))
        answers = [self.simulations.wait(k) if done[k] else ended[k] for k in self._all()]
        infos = self._infos(answers)
        if any(done):
            infos["_final_obs"] = infos["_final_info"] = self._of_lights(done)
            infos["final_info"] = self._infos(ended)
            infos["final_obs"] = np.full(self.num_envs, None, object)
            for i, observation in enumerate(np.concatenate([answer.observations for answer in ended])):
                if infos["_final_obs"][i]:
                    infos["final_obs"][i] = observation
        return (np.concatenate([answer.observations for answer in answers]),
                np.concatenate([answer.rewards for answer in ended]), self._of_lights([answer.terminated for answer in ended]),
                self._of_lights([answer.truncated for answer in ended]), infos)

    def close_extras(self, **kwargs):
        self.simulations.close()


def for_sb3(lights):
    """Makes a VecEnv of Stable-Baselines3 from a SharedLights."""
    from stable_baselines3.common.vec_env import VecEnv

    class LightsVecEnv(VecEnv):
        def __init__(self):
            super().__init__(lights.num_envs, lights.single_observation_space, lights.single_action_space)

        def reset(self):
            observations, infos = lights.reset(seed=self._seeds[0], options=self._options[0])
            self._reset_seeds()
            self._reset_options()
            self.reset_infos = self._split(infos)
            return observations

        def step_async(self, actions):
            self._actions = actions

        def step_wait(self):
            observations, rewards, terminated, truncated, infos = lights.step(self._actions)
            split = self._split(infos)
            for i in np.flatnonzero(terminated | truncated):
                split[i]["terminal_observation"] = infos["final_obs"][i]
                split[i]["TimeLimit.truncated"] = bool(truncated[i])
                split[i]["delay_s"] = infos["final_info"]["delay_s"][i]
            return observations, rewards, terminated | truncated, split

        def _split(self, infos):
            names = [name for name in infos if not name.startswith(("_", "final_"))]
            return [{name: infos[name][i] for name in names} for i in range(self.num_envs)]

        def close(self):
            lights.close()

        def get_attr(self, attr_name, indices=None):
            return [getattr(lights, attr_name)] * len(list(self._get_indices(indices)))

        def set_attr(self, attr_name, value, indices=None):
            raise NotImplementedError("the lights of a simulation have no attributes of their own")

        def env_method(self, method_name, *arguments, indices=None, **more):
            raise NotImplementedError("the lights of a simulation have no methods of their own")

        def env_is_wrapped(self, wrapper_class, indices=None):
            return [False] * len(list(self._get_indices(indices)))

    return LightsVecEnv()
