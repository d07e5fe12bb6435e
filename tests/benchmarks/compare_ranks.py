#!/usr/bin/env python3
"""Measures how a training scales: steps per second of sampling and learning on one rank and on several, in turns.

    tests/benchmarks/compare_ranks.py configs/snakes.toml --ranks 1 2 --rounds 3 \
        --set offpolicy.max_episodes=2000
    tests/benchmarks/compare_ranks.py configs/rl_only.toml --ranks 1 2 --nodes 10gbit --rounds 3 \
        --per-rank rollout.workers=1 --per-rank episodes.train_batch_size=600 --per-rank ppo.minibatch_size=150 \
        --set rollout.envs_per_worker=1 --set training.iterations=12 --set episodes.baseline_episodes=2 \
        --set training.eval_interval=1000 --set training.eval_episodes=1 --set evaluation.seeds=

With --nodes each rank runs on a simulated node (a network namespace, see tests/nodes/nodes.sh) behind a link of that
rate. The script prints the rate of each run, the medians with their ratio to the first number of ranks, and the load of
the machine. The load matters: ranks wait for each other, so other work on one core slows all of them. For each number
of ranks it also measures the same number of one-rank runs at the same time. These runs share only the machine, so their
total rate is the maximum for one training on as many ranks.
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def start(arguments, ranks, folder):
    command = [str(ROOT / "launch/mpirun.sh"), "-np", str(ranks), str(ROOT / "traffic_train"), arguments.config,
               "--run-dir", folder, "--set", "run.device=cpu", "--set", "run.threads_per_rank=1"]
    each = [f"{key}={int(value) * ranks}" for key, value in (setting.split("=") for setting in arguments.per_rank)]
    for setting in arguments.settings + each:
        command += ["--set", setting]
    if arguments.nodes:
        nodes = str(ROOT / "tests/nodes/nodes.sh")
        command = [nodes, "run", str(ranks), "1", "sh", "-c", f"{nodes} rate {arguments.nodes} && {shlex.join(command)}"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run(arguments, ranks, jobs=1):
    """Whole runs at the same time: (total items per second as counted by the program, CPU seconds of all processes)."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        started = [start(arguments, ranks, f"{folder}/{job}") for job in range(jobs)]
        for job in started:
            if job.wait() != 0:
                raise RuntimeError(f"{' '.join(job.args)} ended with {job.returncode}")
        after = os.times()
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        rates = [json.loads(pathlib.Path(folder, str(job), "summary.json").read_text())[arguments.rate] for job in range(jobs)]
        return sum(rates), cpu_s


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", default="env_steps_per_s")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--per-rank", metavar="KEY=NUMBER", action="append", default=[], help="a setting that is multiplied by the number of ranks")
    parser.add_argument("--nodes", metavar="RATE", help="a node for each rank, with links of this rate (1gbit)")
    arguments = parser.parse_args()
    ways = {}
    for ranks in arguments.ranks:
        ways[f"{ranks} ranks"] = {"ranks": ranks}
        if ranks > 1:
            ways[f"{ranks} runs of one rank"] = {"ranks": 1, "jobs": ranks}
    rates = {name: [] for name in ways}
    for number in range(arguments.rounds):
        for name, way in ways.items():
            load = os.getloadavg()[0]
            rate, cpu_s = run(arguments, **way)
            rates[name].append(rate)
            print(f"round {number + 1}: {name}: {rate:,.0f} a second, {cpu_s:.1f} s of CPU, load before {load:.1f}",
                  flush=True)
    first = statistics.median(next(iter(rates.values())))
    for name, found in rates.items():
        median = statistics.median(found)
        print(f"{name}: median {median:,.0f} a second, {median / first:.2f} times {next(iter(ways))}")


if __name__ == "__main__":
    main()
