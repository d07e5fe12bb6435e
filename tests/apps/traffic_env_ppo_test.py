#!/usr/bin/env python3
"""Tests that PPO of Stable-Baselines3 learns to set the lights of lights_grid. Usage: traffic_env_ppo_test.py FOLDER_OF_PROGRAMS"""
import os, re, sys, tempfile, unittest
from pathlib import Path

import numpy as np
import torch
from stable_baselines3.common.env_checker import check_env

import traffic_env

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release/bin"
SEEDS = range(500, 503)  # training draws its seeds from 2**31 numbers
DECISIONS = 5 * 2 * 9 * 180  # five episodes in each of two simulations with nine lights


def delay_s(lights, choose):
    """Delay of the vehicles in s, averaged over episodes in which choose(observations [L, O, F]) sets the lights."""
    found = []
    for seed in SEEDS:
        observations, _ = lights.reset(seed=seed)
        done = False
        while not done:
            observations, _, terminated, truncated, info = lights.step(choose(observations))
            done = terminated or truncated
        found.append(info["delay_s"])
    return np.mean(found)


class OfStableBaselines3(unittest.TestCase):
    def test_ppo_learns_as_in_the_guide(self):
        torch.set_num_threads(1)
        traffic_env.LIBRARY = BIN / "libtraffic_env.so"
        example = re.search(r"```python\n(from stable_baselines3.*?)```", (ROOT / "docs/guide/python.md").read_text(), re.DOTALL)[1]
        self.assertIn("learn(50_000)", example)
        lights = traffic_env.AllLights(ROOT / "configs/signals.toml", {"env.scenario": "lights_grid"})
        check_env(lights, warn=False)
        random = np.random.default_rng(1)
        by_chance_s = delay_s(lights, lambda observations: random.integers(lights.action_space.nvec))
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "configs", f"{folder}/configs")
            os.chdir(folder)
            exec(example.replace("50_000", str(DECISIONS)), names := {})
            os.chdir(ROOT)
        learned_s = delay_s(lights, lambda observations: names["model"].predict(observations, deterministic=True)[0])
        print(f"delay: {by_chance_s:.1f} s with random greens, {learned_s:.1f} s after {DECISIONS} decisions of PPO")
        self.assertLess(learned_s, 0.5 * by_chance_s)


if __name__ == "__main__":
    unittest.main()
