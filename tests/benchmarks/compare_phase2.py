#!/usr/bin/env python3
"""Compares phase 2 with RLlib: whole programs, in turns, on the same scenario, with one decision per simulated second.

  tests/benchmarks/compare_phase2.py [--peer-python PY --peer-script rllib_phase2.py] [--rounds 3]

Both sides run a frozen encoder and world model of the small size (hidden 64, 2 layers, 4 heads) at every decision. An
iteration has 4000 steps in fragments of 200, minibatches of 128, 10 epochs, no separate epochs for the value, and two
simulations, one per core. If the peer's interpreter or script is not given, a message says so and its columns are left
out. Results are medians; compare only ratios from one call.
"""
import argparse, re, statistics, subprocess, sys, tempfile, time
from pathlib import Path

from whole_programs import (ROOT, add_peer_arguments, environment, figure, has_peer, median, output_of, program, ratio_text,
                            train)


def ours(args, folder):
    settings = {"env.scenario": f'"{args.scenario}"', "env.control_period_s": 1.0, "model.hidden_dim": 64, "model.gnn_layers": 2,
                "model.num_heads": 4, "model.lstm_hidden": 64, "model.lstm_layers": 1, "episodes.train_batch_size": args.batch,
                "ppo.minibatch_size": 128, "ppo.num_epochs": 10, "episodes.rollout_fragment_length": 200, "ppo.target_kl": 0.0,
                "ppo.value_epochs": 0, "training.iterations": args.iterations, "training.eval_interval": 1000, "training.eval_episodes": 1,
                "episodes.baseline_episodes": 2, "evaluation.seeds": '""', "episodes.baseline_cache": f'"{folder}"', "rollout.workers": 2,
                "rollout.envs_per_worker": 1, "run.threads_per_rank": 1, "run.allow_random_perception": "true", "log.tensorboard": "false"}
    rows, summary = train("phase2.toml", 2, settings, folder)
    rates = [r["time/env_steps_per_s"] for r in rows if "time/env_steps_per_s" in r][1:]
    share = summary["time_share"]
    return dict(steps_per_s=statistics.median(rates), startup_s=summary["startup_s"],
                rss_mb=sum(summary["peak_rss_bytes"]["per_rank"]) / 2**20,
                share={k: share[k] for k in ("simulate", "infer", "learn")})


def endless(scenario, folder):
    """The scenario with an hour of demand: the peer cannot continue after the end that a .sumocfg specifies."""
    source = ROOT / f"configs/scenarios/{scenario}"
    for path in source.glob(f"{scenario}.*"):
        text = path.read_text()
        if path.suffix in (".sumocfg", ".xml"):
            text = re.sub(r'(<end value=|\bend=)"900"', r'\1"3600"', text)
        (Path(folder) / path.name).write_text(text)
    return Path(folder) / f"{scenario}.sumocfg"


def peer(args, folder):
    script = Path(args.peer_script).resolve()
    command = [args.peer_python, str(script), "--runners", "2", "--model", "reference", "--size", "small",
               "--train-batch", str(args.peer_batch), "--iters", "2"]
    env = environment(SUMO_CFG=str(endless(args.scenario, folder)), PEER_T0=f"{time.time():.3f}")
    out = output_of(command, env=env, cwd=script.parent)
    line = next(l for l in out.splitlines() if l.startswith("RESULT rllib"))
    return dict(steps_per_s=figure(line, r" steps/s=([\d.]+)"), startup_s=figure(line, r"first_iter_done=([\d.]+)"),
                rss_mb=figure(line, r"peakRSS=([\d.]+)MB"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_peer_arguments(parser)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--batch", type=int, default=4000)
    parser.add_argument("--peer-batch", type=int, default=800, help="steps per iteration of the peer; a small number only shortens its run")
    parser.add_argument("--scenario", default="merge")
    args = parser.parse_args()
    with_peer = has_peer(args)
    program("traffic_train")
    mine, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            mine.append(ours(args, folder))
            if with_peer:
                theirs.append(peer(args, folder))
    print(f"{median(mine, 'steps_per_s'):.0f} environment steps/s, first iteration after {median(mine, 'startup_s'):.1f} s, "
          f"ranks {median(mine, 'rss_mb'):.0f} MB, time shares {mine[-1]['share']}")
    if with_peer:
        print(f"peer {median(theirs, 'steps_per_s'):.0f} environment steps/s, first iteration after "
              f"{median(theirs, 'startup_s'):.1f} s, {median(theirs, 'rss_mb'):.0f} MB | "
              f"{ratio_text(mine, theirs, 'steps_per_s', 1)}")


if __name__ == "__main__":
    sys.exit(main())
