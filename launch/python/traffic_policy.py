#!/usr/bin/env python3
"""Runs policies that traffic_export has written, without the C++ program.

Needs numpy, and torch or onnxruntime. As a module:

    policy = TrafficPolicy("exported")              # a folder with policy.json
    options = policy.decide_lights(state)           # {"light name": index of the chosen option}
    commands = policy.decide_vehicles(state)        # [{"vehicle": ..., "longitudinal": ...}, ...]

A state is a dictionary of features in physical units. policy.json lists the features with their
units and meaning; the functions below say how a state is built. docs/guide/export.md explains both.

As a program it repeats the decisions in states.jsonl, which traffic_export --scenario has recorded,
and compares them with those of the C++ program:

    python3 traffic_policy.py FOLDER [--backend torch|onnx]
"""
import argparse
import json
import math
import os
import random
import sys
import warnings

import numpy as np

TOLERANCE = 1e-6  # maximum difference of an output, relative to the larger of the output and 1


class PolicyError(Exception):
    """The exported files or a state cannot be used. The message says what was found and expected."""


def _torch_network(path):
    import torch

    module = torch.jit.load(path, map_location="cpu")

    def run(inputs):
        with torch.no_grad():
            outputs = module(*(torch.from_numpy(value) for value in inputs.values()))
        return {name: value.numpy() for name, value in outputs.items()}

    return run


def _onnx_network(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the networks are small; more threads only wait
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]

    def run(inputs):
        return dict(zip(names, session.run(names, inputs)))

    return run


_BACKENDS = {"torch": ("torchscript", _torch_network), "onnx": ("onnx", _onnx_network)}
_MODULES = {"torch": "torch", "onnx": "onnxruntime"}


def _choose_backend():
    import importlib.util

    for backend, module in _MODULES.items():
        if importlib.util.find_spec(module):
            return backend
    raise PolicyError("found neither torch nor onnxruntime; install one: pip install onnxruntime")


def _gumbel(rng):
    """A sample of the Gumbel distribution. The largest of log-probabilities plus such samples
    belongs to an option that is drawn with its probability."""
    return -math.log(-math.log(rng.random() or 1e-300))


class TrafficPolicy:
    """The policies in a folder of traffic_export, for vehicles, traffic lights or both."""

    def __init__(self, folder, backend=None, seed=0):
        """backend: "torch" or "onnx"; by default the one that is installed.
        seed: of the random numbers of policies that sample their decisions.
        Raises PolicyError if the files are missing or damaged."""
        path = os.path.join(folder, "policy.json")
        try:
            with open(path, encoding="utf-8") as file:
                self.table = json.load(file)
        except OSError as error:
            raise PolicyError(f"{path}: {error.strerror}; expected a folder of traffic_export") from error
        except ValueError as error:
            raise PolicyError(f"{path}: {error}; expected the JSON that traffic_export writes") from error
        if (self.table.get("format"), self.table.get("format_version")) != ("traffic_policy", 1):
            raise PolicyError(f"{path}: expected format traffic_policy, version 1; export the checkpoint again")
        self.backend = backend or _choose_backend()
        if self.backend not in _BACKENDS:
            raise PolicyError(f"backend '{backend}', expected torch or onnx")
        self._networks = {}
        self._columns = {}
        for agent in ("vehicles", "lights"):
            if agent not in self.table:
                continue
            self._load(agent, folder, self.table[agent])
            if "memory" in self.table[agent]:
                self._load("memory", folder, self.table[agent]["memory"])
            self._columns[agent] = {
                one["name"]: one["columns"] for one in self.table[agent]["inputs"] if "columns" in one
            }
        self._remembers = "memory" in self.table.get("vehicles", {})
        self._memory = {}  # hidden and cell state of each connected vehicle, by name
        self._rng = random.Random(seed)
        self._warned = set()

    def _load(self, name, folder, entry):
        key, load = _BACKENDS[self.backend]
        file = os.path.join(folder, entry[key])
        try:
            self._networks[name] = load(file)
        except ImportError:
            raise
        except Exception as error:  # both libraries have many exceptions of their own
            raise PolicyError(f"{file}: {error}; export the checkpoint again") from error

    # States

    def _row(self, features, columns, where):
        """The values of a dictionary of features in the order of the network's columns."""
        names = [column["name"] for column in columns]
        missing = [name for name in names if name not in features]
        unknown = [name for name in features if name not in names]
        if missing or unknown:
            raise PolicyError(
                f"{where}: missing features {missing}, unknown features {unknown}; policy.json lists the features"
            )
        for column in columns:
            value = features[column["name"]]
            if not math.isfinite(value):
                raise PolicyError(f"{where}: {column['name']} is {value}, expected a finite number")
            low, high = column["low"], column["high"]
            inside = (low is None or value >= low - 1e-4) and (high is None or value <= high + 1e-4)
            if not inside and column["name"] not in self._warned:
                self._warned.add(column["name"])
                warnings.warn(
                    f"{where}: {column['name']} is {value} {column['unit']}, expected {low} to {high}; "
                    "further such values are not reported"
                )
        return [features[name] for name in names]

    def _pairs(self, agent, state, index, inputs):
        """Adds the inputs of the graph of neighbours, if the network has them."""
        columns = self._columns[agent].get("edge_features")
        if columns is None:
            return
        if "pairs" not in state:
            raise PolicyError(f"the policy of the {agent} needs the key 'pairs' of the state")
        pairs = sorted(state["pairs"], key=lambda pair: index[pair["of"]])
        inputs["edge_source"] = np.array([index[pair["neighbour"]] for pair in pairs], np.int64)
        inputs["edge_target"] = np.array([index[pair["of"]] for pair in pairs], np.int64)
        rows = [self._row(pair["features"], columns, f"pair {pair['of']}, {pair['neighbour']}") for pair in pairs]
        inputs["edge_features"] = np.array(rows, np.float32).reshape(len(rows), len(columns))

    def _run(self, name, entry, values):
        """Runs a network with its inputs in their order."""
        return self._networks[name]({one["name"]: values[one["name"]] for one in entry["inputs"]})

    def _table(self, agent):
        if agent not in self._networks:
            raise PolicyError(f"the export has no policy of {agent}")
        return self.table[agent]

    # Traffic lights

    def light_outputs(self, state):
        """The probabilities of all options, one array for each light."""
        self._table("lights")
        columns = self._columns["lights"]["options"]
        lights = state["lights"]
        rows, of_option = [], []
        for index, light in enumerate(lights):
            for option in light["options"]:
                rows.append(self._row(option, columns, f"light {light['id']}"))
                of_option.append(index)
        inputs = {
            "options": np.array(rows, np.float32).reshape(len(rows), len(columns)),
            "light": np.array(of_option, np.int64),
            "lights": np.array([len(lights)], np.int64),
        }
        self._pairs("lights", state, {light["id"]: i for i, light in enumerate(lights)}, inputs)
        if not rows:
            return [np.zeros(0, np.float32) for _ in lights]
        values = self._run("lights", self.table["lights"], inputs)["probability"]
        return [values[inputs["light"] == i] for i in range(len(lights))]

    def decide_lights(self, state, greedy=None):
        """Chooses an option for each light that may switch.

        state: {"lights": [{"id": name, "may_switch": bool, "options": [{feature: value}, ...]}, ...],
                "pairs": [{"of": light, "neighbour": light, "features": {feature: value}}, ...]}
        Only a policy with layers of attention needs "pairs", and the lights that may not switch.
        greedy: takes the most probable option; by default as policy.json says under "decides".
        Returns {name of the light: index of the option}."""
        greedy = self._table("lights")["decides"] == "greedy" if greedy is None else greedy
        chosen = {}
        for light, values in zip(state["lights"], self.light_outputs(state)):
            if light["may_switch"] and len(values) > 0:
                keys = values if greedy else [math.log(max(value, 1e-30)) + _gumbel(self._rng) for value in values]
                chosen[light["id"]] = int(np.argmax(keys))
        return chosen

    # Vehicles

    def _frame(self, state):
        """The inputs that describe the vehicles and their neighbours."""
        vehicles = state["vehicles"]
        columns = self._columns["vehicles"]["vehicles"]
        rows = [self._row(one["features"], columns, f"vehicle {one['id']}") for one in vehicles]
        inputs = {
            "vehicles": np.array(rows, np.float32).reshape(len(rows), len(columns)),
            "connected": np.array([i for i, one in enumerate(vehicles) if one["features"]["is_cv"] > 0.5], np.int64),
        }
        self._pairs("vehicles", state, {one["id"]: i for i, one in enumerate(vehicles)}, inputs)
        return inputs

    def forget(self):
        """Begins a new simulation: empties the memory of a policy that remembers vehicles."""
        self._memory = {}

    def remember(self, frame):
        """Takes a state into the memory of the policy: {"vehicles": [...], "pairs": [...]}, as in decide_vehicles().
        A policy with "memory" in policy.json needs a call for the state after every second, before decide_vehicles()
        is called with the same state. For other policies the call does nothing."""
        if not self._remembers:
            return
        entry = self.table["vehicles"]["memory"]
        inputs = self._frame(frame)
        names = [frame["vehicles"][i]["id"] for i in inputs["connected"]]
        width = entry["layers"] * entry["width"]
        zero = np.zeros(width, np.float32)
        known = [self._memory.get(name, (zero, zero)) for name in names]
        inputs["hidden"] = np.array([hidden for hidden, _ in known], np.float32).reshape(len(names), width)
        inputs["cell"] = np.array([cell for _, cell in known], np.float32).reshape(len(names), width)
        if not names:
            self._memory = {}
            return
        outputs = self._run("memory", entry, inputs)
        self._memory = dict(zip(names, zip(outputs["next_hidden"], outputs["next_cell"])))

    def vehicle_outputs(self, state):
        """The outputs of the network for the candidates, as policy.json describes them."""
        table = self._table("vehicles")
        vehicles = state["vehicles"]
        candidates = [i for i, vehicle in enumerate(vehicles) if vehicle["candidate"]]
        columns = self._columns["vehicles"]
        inputs = {**self._frame(state), "candidates": np.array(candidates, np.int64)}
        if self._remembers:
            unseen = [vehicles[i]["id"] for i in inputs["connected"] if vehicles[i]["id"] not in self._memory]
            if unseen:
                raise PolicyError(f"vehicles {unseen}: call remember() with this state before decide_vehicles()")
            width = table["memory"]["width"]
            rows = [self._memory[vehicles[i]["id"]][0][-width:] for i in inputs["connected"]]
            inputs["memory"] = np.array(rows, np.float32).reshape(len(rows), width)
            inputs["place"] = np.searchsorted(inputs["connected"], inputs["candidates"])
        if "globals" in columns:
            inputs["globals"] = np.array([self._row(state["globals"], columns["globals"], "globals")], np.float32)
        if table["advisor"] is not None:
            place = {command["name"]: i for i, command in enumerate(table["commands"])}
            advised = [vehicles[i]["advised"] for i in candidates]
            unknown = sorted(set(advised) - set(place))
            if unknown:
                raise PolicyError(f"advised commands {unknown}, expected one of {sorted(place)}")
            inputs["advised"] = np.array([place[name] for name in advised], np.int64)
        return self._run("vehicles", table, inputs)

    def decide_vehicles(self, state, greedy=None):
        """Picks candidates and chooses their commands.

        state: {"under_command": number of vehicles whose command still lasts,
                "globals": {feature: value},
                "vehicles": [{"id": name, "candidate": bool, "advised": command, "features": {feature: value}}, ...],
                "pairs": [{"of": vehicle, "neighbour": vehicle, "features": {feature: value}}, ...]}
        Only a policy that reads encodings needs "pairs", and the vehicles that are no candidates. Only a policy
        with an advisor needs "advised".
        greedy: as for decide_lights().
        Returns a list of {"vehicle", "longitudinal", "lane_change", "value", "hold_s"}; a vehicle without a command
        is driven by its own driver."""
        table = self._table("vehicles")
        greedy = table["decides"] == "greedy" if greedy is None else greedy
        candidates = [vehicle for vehicle in state["vehicles"] if vehicle["candidate"]]
        if not candidates:
            return []
        outputs = self.vehicle_outputs(state)

        def best(values):
            return int(np.argmax(values if greedy else [value + _gumbel(self._rng) for value in values]))

        keys = [float(score) + (0.0 if greedy else _gumbel(self._rng)) for score in outputs["score"]]
        order = sorted(range(len(keys)), key=lambda i: -keys[i])  # of equal scores the first candidate
        commands = []
        for i in order[: max(0, table["max_commanded"] - state["under_command"])]:
            if "commands" in table:
                kind = table["commands"][best(outputs["command"][i])]
                command = {key: kind[key] for key in ("longitudinal", "lane_change", "value", "hold_s")}
            else:
                kind = table["continuous"]
                z = float(outputs["command"][i][0])
                z += 0.0 if greedy else math.exp(kind["log_std"]) * self._rng.gauss(0.0, 1.0)
                value = kind["low"] + (kind["high"] - kind["low"]) * 0.5 * (1.0 + math.tanh(z))
                if kind["longitudinal"] == "target_speed":
                    value *= candidates[i]["features"]["speed_limit_mps"]
                command = {"longitudinal": kind["longitudinal"], "lane_change": 0, "value": value}
                command["hold_s"] = kind["hold_s"]
            if "lane" in outputs:
                command["lane_change"] = best(outputs["lane"][i]) - 1
            if command["longitudinal"] != "none" or command["lane_change"] != 0:
                commands.append({"vehicle": candidates[i]["id"], **command})
        return commands


# The check


def _difference(found, wanted):
    wanted = np.asarray(wanted, np.float64)
    if np.shape(found) != wanted.shape:
        return math.inf
    return float(np.max(np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted)), initial=0.0))


def _same_commands(found, wanted, scores):
    """Whether two lists have the same commands. Vehicles whose scores differ by no more than the tolerance may take
    each other's place.
    scores: of the candidates, by vehicle"""
    found = {command["vehicle"]: command for command in found}
    wanted = {command["vehicle"]: command for command in wanted}
    for name in found.keys() & wanted.keys():
        one, other = found[name], wanted[name]
        if not math.isclose(one["value"], other["value"], rel_tol=1e-5, abs_tol=1e-6):
            return False
        if any(one[key] != other[key] for key in other if key != "value"):
            return False
    others = sorted(scores[name] for name in found.keys() ^ wanted.keys())
    return len(found) == len(wanted) and (not others or _difference(others[0], others[-1]) <= TOLERANCE)


def check(folder, backend=None):
    """Repeats the decisions in states.jsonl. Returns (number of states, number with another decision, largest
    difference of an output)."""
    policy = TrafficPolicy(folder, backend)
    states, others, largest = 0, 0, 0.0
    path = os.path.join(folder, "states.jsonl")
    if not os.path.exists(path):
        raise PolicyError(f"{path} does not exist; record it with traffic_export --scenario")
    with open(path, encoding="utf-8") as file:
        for record in map(json.loads, file):
            state, wanted = record["state"], record["outputs"]
            if record["agent"] == "lights":
                outputs = zip(state["lights"], policy.light_outputs(state))
                found = {"probability": np.concatenate([values for light, values in outputs if light["may_switch"]])}
                same = policy.decide_lights(state, greedy=True) == record["decision"]
            else:
                for frame in state.get("frames", ()):
                    policy.remember(frame)
                found = policy.vehicle_outputs(state) if wanted else {}
                candidates = [vehicle["id"] for vehicle in state["vehicles"] if vehicle["candidate"]]
                scores = dict(zip(candidates, found.get("score", ())))
                same = _same_commands(policy.decide_vehicles(state, greedy=True), record["decision"], scores)
            largest = max([largest] + [_difference(found[name], wanted[name]) for name in wanted])
            states += bool(wanted)  # a state may have no candidate
            others += not same
    return states, others, largest


def main():
    parser = argparse.ArgumentParser(description="Compares exported policies with the decisions in states.jsonl.")
    parser.add_argument("folder", help="folder of traffic_export")
    parser.add_argument("--backend", choices=sorted(_BACKENDS), help="default: the one that is installed")
    arguments = parser.parse_args()
    try:
        states, others, largest = check(arguments.folder, arguments.backend)
    except (PolicyError, ImportError) as error:
        sys.exit(f"traffic_policy.py: {error}")
    print(f"{states} states, {others} with another decision, largest difference of an output {largest:.1e}")
    return 0 if others == 0 and largest <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
