#!/usr/bin/env python3
"""Compares phase 1 on recorded episodes with phase 1 on converted floating car data of the same episodes, in pairs.

  tests/benchmarks/compare_converted.py [--train 8 --seeds 1 2 3 --epochs 4]

`data_prep record` simulates episodes of merge without control. SUMO alone simulates the same seeds and writes floating
car data as described in docs/guide/recorded-traffic.md, which are then converted with the network. Both sets are split in the same way.
For each training seed, one model is trained on each set with configs/phase1.toml and tested on the test episodes of its
own set. The script prints the errors at the last horizon, and means of the ratio converted / recorded with a 95 % interval.
"""
import argparse, math, statistics, subprocess, sys, tempfile
from pathlib import Path

from whole_programs import ROOT, train

DATA_PREP = str(ROOT / "data_prep" / "data_prep")
SUMO = str(ROOT / ".deps/sumo/sumo/bin/sumo")
MERGE = ROOT / "configs/scenarios/merge"
FIGURES = ("speed_rmse_mps_frame1", "speed_rmse_mps_frame5", "position_rmse_m_frame1", "position_rmse_m_frame5", "conflict_auc")
STUDENT_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36}


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def make_split(folder, name, shares, seeds, seconds):
    """Creates the same episodes twice: folder/recorded/name and folder/converted/name."""
    run(DATA_PREP, "record", "--scenario", "merge", "--control", "none", "--demand-scale", "1", "--seeds", f"{seeds[0]}..{seeds[-1]}",
        "--episodes", len(seeds), "--steps", seconds, "--split", shares, "--out", folder / "recorded" / name)
    for seed in seeds:
        fcd = folder / f"{name}-{seed}.fcd.xml"
        run(SUMO, "-c", MERGE / "merge.sumocfg", "--seed", seed, "--end", seconds, "--no-step-log", "--no-warnings",
            "--fcd-output", fcd)
        run(DATA_PREP, "convert", fcd, "--network", MERGE / "merge.net.xml", "--episode-s", "0", "--split", shares, "--out",
            folder / "converted" / name / f"{seed}.h5")
        fcd.unlink()


def interval(values):
    mean, half = statistics.mean(values), 0.0
    if len(values) > 1:
        half = STUDENT_95.get(len(values), 2.0) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:.3f} +- {half:.3f}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--train", type=int, default=8, help="episodes to train on")
    options.add_argument("--tested", type=int, default=3, help="episodes to validate on, and as many to test on")
    options.add_argument("--seconds", type=int, default=900, help="duration of an episode")
    options.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="training seeds")
    options.add_argument("--epochs", type=int, default=4)
    options.add_argument("--ranks", type=int, default=1)
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        first = 5000
        for name, shares, count in (("train", "1,0,0", args.train), ("validation", "0,1,0", args.tested), ("test", "0,0,1", args.tested)):
            make_split(folder, name, shares, list(range(first, first + count)), args.seconds)
            first += 1000
        ratios = {figure: [] for figure in FIGURES}
        for seed in args.seeds:
            results = {}
            for kind in ("recorded", "converted"):
                settings = {"data.files": f'["{folder}/{kind}/*/*.h5"]', "run.seed": seed, "train.epochs": args.epochs,
                            "train.warmup_epochs": 1, "run.threads_per_rank": 1, "log.tensorboard": "false"}
                results[kind] = train("phase1.toml", args.ranks, settings, folder)[1]["result"]
            for figure in FIGURES:
                ratios[figure].append(results["converted"][figure] / results["recorded"][figure])
            print(f"seed {seed}: " + ", ".join(f"{figure} {results['recorded'][figure]:.4f} recorded, {results['converted'][figure]:.4f} "
                                               "converted" for figure in FIGURES), flush=True)
        for figure, values in ratios.items():
            print(f"{figure}: converted / recorded {interval(values)}")


if __name__ == "__main__":
    sys.exit(main())
