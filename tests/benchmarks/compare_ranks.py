#!/usr/bin/env python3
"""Steps per second of a training on one rank and on more, in turn: how sampling and learning scale.

    tests/benchmarks/compare_ranks.py configs/snakes.toml --ranks 1 2 --rounds 3 \
        --set offpolicy.max_episodes=2000

Prints the rate of each run, the medians and their ratio to the first number of ranks, and the load of the machine, without
which the figures say little: ranks wait for each other, so other work on one core slows all.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(config, ranks, settings, rate):
    """A whole run: (items per second as the program counts them, CPU seconds of all its processes)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(ROOT / "launch/mpirun.sh"), "-np", str(ranks), str(ROOT / "traffic_train"), config,
                   "--run-dir", folder + "/run", "--set", "run.device=cpu", "--set", "run.threads_per_rank=1"]
        for setting in settings:
            command += ["--set", setting]
        before = os.times()
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        summary = json.loads(pathlib.Path(folder, "run/summary.json").read_text())
        return summary[rate], cpu_s


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", default="env_steps_per_s")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    arguments = parser.parse_args()
    rates = {ranks: [] for ranks in arguments.ranks}
    for number in range(arguments.rounds):
        for ranks in arguments.ranks:
            load = os.getloadavg()[0]
            rate, cpu_s = run(arguments.config, ranks, arguments.settings, arguments.rate)
            rates[ranks].append(rate)
            print(f"round {number + 1}: {ranks} ranks: {rate:,.0f} a second, {cpu_s:.1f} s of CPU, load before {load:.1f}",
                  flush=True)
    first = statistics.median(rates[arguments.ranks[0]])
    for ranks, of_ranks in rates.items():
        median = statistics.median(of_ranks)
        print(f"{ranks} ranks: median {median:,.0f} a second, {median / first:.2f} times {arguments.ranks[0]}")


if __name__ == "__main__":
    main()
