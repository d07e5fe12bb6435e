#!/usr/bin/env python3
"""Evaluates controllers of traffic lights on the public RESCO networks from the PyPI package sumo-rl.

  tests/benchmarks/resco.py [--checkpoints runs/signals/.../best.h5 ...] [--networks cologne1,ingolstadt1,grid4x4] [--seeds 1..20]

Downloads the package once to --folder and prints traffic_eval's table for each network: an hour of its own demand, no
teleports, scripts at periods of 5 and 10 s. Nothing is trained or tuned on these networks, and they are not in this repository.
"""
import argparse, subprocess, sys, zipfile
from pathlib import Path

from whole_programs import environment, program

PACKAGE = "sumo-rl==1.4.5"
INSIDE = "sumo_rl/nets/RESCO/"
SCRIPTS = ["greedy", "max_pressure", "actuated"]


def fetch(folder):
    """Returns the folder of the networks, one sub-folder each."""
    networks = folder / INSIDE
    if not networks.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(folder), PACKAGE], check=True)
        (wheel,) = folder.glob("sumo_rl-*.whl")
        with zipfile.ZipFile(wheel) as package:
            package.extractall(folder, [name for name in package.namelist() if name.startswith(INSIDE)])
    return networks


def command(args, sumocfg):
    line = [program("traffic_eval"), "--scenario", str(sumocfg), "--seeds", args.seeds, "--demand-scale", str(args.demand_scale),
            "--jobs", str(args.jobs), "--set", "env.objective=delay", "--set", 'env.sumo_args=["--time-to-teleport", "-1"]',
            "--set", "env.max_time_s=0"]  # run to the scenario's end, also if the checkpoint was trained on shorter episodes
    controllers = ["none"] + [f"{script}(period_s={period})" for script in SCRIPTS for period in (5, 10)]
    controllers += [f"checkpoint:{path}" for path in args.checkpoints]
    for controller in controllers:
        line += ["--controller", controller]
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", nargs="+", default=[], help="trained policies of lights to compare with the scripts")
    parser.add_argument("--networks", default="cologne1,ingolstadt1,grid4x4")
    parser.add_argument("--seeds", default="1..20")
    parser.add_argument("--demand-scale", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path(".cache/resco"))
    args = parser.parse_args()
    networks = fetch(args.folder)
    for name in args.networks.split(","):
        print(name, flush=True)
        subprocess.run(command(args, networks / name / f"{name}.sumocfg"), check=True, env=environment())


if __name__ == "__main__":
    sys.exit(main())
