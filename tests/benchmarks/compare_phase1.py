#!/usr/bin/env python3
"""Compares phase 1 with PyTorch DDP: whole programs, in turns, with the same model sizes, batch and graph shapes.

  tests/benchmarks/compare_phase1.py [--peer-python PY --peer-script ddp_phase1.py] [--rounds 3]
  tests/benchmarks/compare_phase1.py --device cuda --ranks 1 --steps 100 --warmup 20 [--batch 256] [--peer-...]

Both sides use `--ranks` ranks with one thread each, batches of 32 per rank, and windows of 10 frames x 16 vehicles with 8
incoming edges each. On GPUs the peer gets `--device cuda --workers 4` and the arguments in `--peer-options`. If the peer's
interpreter or script is not given, a message says so and its columns are left out. Results are medians over rounds. The
machine's speed drifts, so compare only ratios from one call.
"""
import argparse, socket, statistics, subprocess, sys, tempfile, time
from pathlib import Path

from whole_programs import (add_peer_arguments, environment, figure, has_peer, median, program, ratio_text, tail,
                            train)

LSTM = dict(lstm_hidden=256, lstm_layers=2)
SIZES = {"full": dict(hidden_dim=256, gnn_layers=3, num_heads=8, **LSTM),
         "small": dict(hidden_dim=64, gnn_layers=2, num_heads=4, **LSTM)}


def ours(args, size, precision, ranks, data, folder):
    settings = {"data.files": f'["{data}"]', "train.max_steps": args.steps + args.warmup, "train.precision": precision,
                "train.stage1_share": 0, "data.batch_size": args.batch, "data.sample_stride_frames": 1, "train.eval_max_batches": 1,
                "run.threads_per_rank": 1, "log.tensorboard": "false", "train.epochs": 100, "log.interval_steps": 1,
                **{f"model.{key}": value for key, value in SIZES[size].items()}}
    steps, summary = train("phase1.toml", ranks, settings, folder, device=args.device)
    seconds = [s["time/step_s"] for s in steps if "time/step_s" in s][args.warmup:]
    return dict(samples_per_s=args.batch * ranks / statistics.median(seconds), first_step_s=summary["startup_s"],
                rss_mb=max(summary["peak_rss_bytes"]["per_rank"]) / 2**20)


def peer(args, size, precision, ranks):
    """Starts the peer's ranks directly: torchrun would add its own seconds to their start."""
    script = Path(args.peer_script).resolve()
    command = [args.peer_python, str(script), "--size", size, "--dtype", precision, "--steps", str(args.steps),
               "--warmup", str(args.warmup), "--batch", str(args.batch)]
    if args.device == "cuda":
        command += ["--device", "cuda", "--workers", "4"]
    command += args.peer_options.split()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = environment(PEER_T0=f"{time.time():.3f}")
    group = dict(WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)) if ranks > 1 else {}
    running = [subprocess.Popen(command, cwd=script.parent, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=dict(shared, **group, **({"RANK": str(r), "LOCAL_RANK": str(r)} if group else {})))
               for r in range(ranks)]
    outputs = [process.communicate() for process in running]
    for process, (_, error) in zip(running, outputs):
        if process.returncode:
            sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{tail(error)}")
    out = outputs[0][0]
    line = next(l for l in out.splitlines() if l.startswith("RESULT"))
    return dict(samples_per_s=figure(line, r"samples/s=([\d.]+)"), first_step_s=figure(line, r"first_step=([\d.]+)"),
                rss_mb=figure(line, r"rss=([\d.]+)MB"))


def gemm_bound(size, precision):
    """Rate in samples/s per rank if a step were its matrix products only, at the rate measured for their shapes."""
    out = subprocess.run([program("bench_phase1_step"), "--gemm-bound", size, precision], env=environment(),
                         capture_output=True, text=True)
    return float(out.stdout.split()[-1]) if out.returncode == 0 and out.stdout.split() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_peer_arguments(parser)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--sizes", nargs="+", default=["full"], choices=SIZES)
    parser.add_argument("--precisions", nargs="+", default=["fp32", "bf16"])
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--batch", type=int, default=32, help="samples per rank and step")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--peer-options", default="", help="further arguments of the peer's script, in quotes: --peer-options='--layout edge'")
    args = parser.parse_args()
    with_peer = has_peer(args)
    for name in ("traffic_train", "synthetic_dataset", "bench_phase1_step"):
        program(name)  # exits if one is not built, before anything runs
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "synthetic.h5"
        subprocess.run([program("synthetic_dataset"), str(data)], check=True)
        for size in args.sizes:
            for precision in args.precisions:
                rate = {}
                for ranks in args.ranks:
                    mine, theirs = [], []
                    for _ in range(args.rounds):
                        mine.append(ours(args, size, precision, ranks, data, folder))
                        if with_peer:
                            theirs.append(peer(args, size, precision, ranks))
                    rate[ranks] = median(mine, "samples_per_s")
                    text = (f"{size} {precision} ranks={ranks}: {rate[ranks]:.1f} samples/s, first step after "
                            f"{median(mine, 'first_step_s'):.1f} s, {median(mine, 'rss_mb'):.0f} MB a rank")
                    if with_peer:
                        text += (f" | peer {median(theirs, 'samples_per_s'):.1f} samples/s, "
                                 f"{median(theirs, 'first_step_s'):.1f} s, {median(theirs, 'rss_mb'):.0f} MB"
                                 f" | {ratio_text(mine, theirs, 'samples_per_s', 2)}")
                    bound = gemm_bound(size, precision) if args.device == "cpu" else None
                    if bound:
                        text += f" | matrix products alone, one rank: {bound:.1f} samples/s"
                    print(text, flush=True)
                if 1 in rate and 2 in rate:
                    print(f"{size} {precision}: two ranks over one {rate[2] / rate[1]:.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
