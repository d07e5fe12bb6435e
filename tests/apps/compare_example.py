#!/usr/bin/env python3
"""Runs launch/python/control_lights.py and compares it with states.jsonl, which traffic_export has
recorded with the same seed. Usage: compare_example.py FOLDER SUMOCFG SEED [BACKEND]

Prints every feature that differs and every decision that differs. Ends with exit code 1 if there is
one, or if nothing was compared.
"""
import argparse
import json
import os
import sys

import control_lights
from traffic_policy import TrafficPolicy

folder, sumocfg, seed = sys.argv[1:4]
with open(os.path.join(folder, "states.jsonl"), encoding="utf-8") as file:
    wanted = [json.loads(line) for line in file]
found = []
control_lights.run(
    argparse.Namespace(sumocfg=sumocfg, seed=int(seed), seconds=wanted[-1]["time_s"] + 1),
    TrafficPolicy(folder, sys.argv[4] if len(sys.argv) > 4 else "onnx"),
    on_decision=lambda made: found.append(made) if made["lights"] else None,
)
others = compared = 0
for ours, theirs in zip(found, wanted):
    moment = f"after {theirs['time_s']} s"
    if ours["time_s"] != theirs["time_s"] or ours["decision"] != theirs["decision"]:
        others += 1
        print(f"{moment}: {ours['decision']} after {ours['time_s']} s, expected {theirs['decision']}")
    lights = {light["id"]: light for light in ours["lights"]}
    for expected in theirs["state"]["lights"]:
        light = lights.get(expected["id"])
        if light is None:
            others += 1
            print(f"{moment}: light {expected['id']} does not decide")
            continue
        for option, features in enumerate(expected["options"]):
            for name, value in features.items():
                compared += 1
                # Times of waiting are recorded as logarithms in float32.
                if abs(light["options"][option][name] - value) > 1e-4 * max(1.0, abs(value)):
                    others += 1
                    print(f"{moment}, light {light['id']}, option {option}: {name} is "
                          f"{light['options'][option][name]}, expected {value}")
print(f"{compared} features, {others} differences")
sys.exit(others > 0 or compared == 0 or len(found) < len(wanted))
