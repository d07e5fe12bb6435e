#!/usr/bin/env python3
"""Measures each preset in phases 1, 2 and 3: rate, time of a step or iteration, main memory; prints a Markdown table.

  tests/benchmarks/compare_presets.py [--phases 1 2 3] [--presets test normal ...] [--ranks 2]

The script runs a few steps of each preset on CPU cores, on merge, from random weights and with the default size of the
model (`test` sets its own).
Phase 1 reads episodes that are recorded first. Iterations of phases 2 and 3 include simulation and learning; work that
occurs once in a run (baselines, the first fit of the value, evaluations) is made short. The limits of `vram` and the
pinned memory of `max` are for GPUs and have no effect here.
"""
import argparse, os, statistics, subprocess, sys, tempfile
from pathlib import Path

from whole_programs import environment, program, train

PRESETS = ["test", "normal", "max", "memory", "vram"]
SHORT = {"episodes.baseline_episodes": 2, "training.eval_episodes": 1, "training.eval_interval": 1000, "ppo.value_first_epochs": 0,
         "evaluation.seeds": '""', "run.allow_random_perception": "true"}


def measure(phase, preset, args, folder):
    """Returns rate per second, seconds per step, GiB of all processes together (None if the run was too short)."""
    settings = {"run.phase": phase, "run.threads_per_rank": 1, "log.tensorboard": "false", "env.scenario": "merge"}
    if phase == 1:
        settings |= {"data.files": f'["{folder}/*.h5"]', "train.max_steps": args.steps, "train.eval_max_batches": 1,
                     "train.stage1_share": 0, "log.interval_steps": 1}
        rate, duration = "samples_per_s", "time/step_s"
    else:
        settings |= SHORT | {"training.iterations": args.iterations, "episodes.baseline_cache": f'"{folder}/baselines"'}
        rate, duration = "env_steps_per_s", "time/iteration_s"
    rows, summary = train(None, args.ranks, settings, folder, ["--preset", preset])
    seconds = [row[duration] for row in rows if duration in row]
    memory = [row["memory/total_gib"] for row in rows if "memory/total_gib" in row]
    return summary[rate], statistics.median(seconds[1:] or seconds), max(memory, default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phases", nargs="+", type=int, default=[1, 2, 3], choices=[1, 2, 3])
    parser.add_argument("--presets", nargs="+", default=PRESETS, choices=PRESETS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12, help="number of steps of phase 1")
    parser.add_argument("--iterations", type=int, default=1, help="number of iterations of phases 2 and 3")
    args = parser.parse_args()
    for name in ("traffic_train", "data_prep"):
        program(name)  # before anything runs
    print("| phase | preset | rate | a step or iteration | memory | load before |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if 1 in args.phases:
            subprocess.run([program("data_prep"), "record", "--scenario", "merge", "--out", folder, "--episodes", "6",
                            "--seeds", "100"], check=True, env=environment(), stdout=subprocess.DEVNULL)
        for phase in args.phases:
            for preset in args.presets:
                load = os.getloadavg()[0]
                rate, seconds, gib = measure(phase, preset, args, folder)
                unit = "samples/s" if phase == 1 else "environment steps/s"
                memory = "run too short" if gib is None else f"{gib:.2f} GiB"
                print(f"| {phase} | {preset} | {rate:,.0f} {unit} | {seconds:.2f} s | {memory} | {load:.1f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
