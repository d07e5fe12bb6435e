#!/usr/bin/env python3
"""Compares the training of the driving policy with a PyTorch program, driving_peer.py, in samples per CPU second.

    tests/benchmarks/compare_driving.py 'data/scenes/*.h5' --ranks 1 2 --peer-python .deps/torch

The CPU time of traffic_train includes drawing the images, on all threads of all ranks. The script subtracts the time of
a short run from that of a long run, so that the result does not contain the start of the program. Both programs use one
thread for the network.
"""
import argparse, os, pathlib, re, resource, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def processor_seconds(command, environment=None):
    """Runs a command. Returns its output and its CPU time with that of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})}, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout + done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def train(arguments, ranks, steps):
    with tempfile.TemporaryDirectory() as folder:
        return processor_seconds(
            ["launch/mpirun.sh", "-np", str(ranks), str(ROOT / "traffic_train"), "configs/driving.toml", "--run-dir", folder + "/run",
             "--set", f'data.files=["{arguments.scenes}"]', "--set", f'driving.validation_files=["{arguments.scenes}"]',
             "--set", f"train.max_steps={steps}", "--set", f"data.batch_size={arguments.batch}", "--set", "run.device=cpu",
             "--set", "run.threads_per_rank=1", "--set", "driving.validation_samples=64", "--set", "data.num_workers=1",
             "--set", "checkpoint.save_interval_steps=0"] + arguments.set)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", help="files of scenes, as a glob")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1])
    parser.add_argument("--steps", type=int, nargs=2, default=[50, 450], help="number of steps of the short and of the long run")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--peer-python", default="", help="folder to put into PYTHONPATH for the peer; it holds torch")
    parser.add_argument("set", nargs="*", help="further arguments of traffic_train, after --")
    arguments = parser.parse_args()
    for ranks in arguments.ranks:
        _, short = train(arguments, ranks, arguments.steps[0])
        output, long = train(arguments, ranks, arguments.steps[1])
        samples = (arguments.steps[1] - arguments.steps[0]) * arguments.batch * ranks
        print(f"traffic_train, {ranks} rank(s): {samples / (long - short):.0f} samples/CPU-s", flush=True)
        for line in re.findall(r".*(?:waiting|where the time went|memory).*", output)[-4:]:
            print("   ", line.strip())
    environment = {"PYTHONPATH": arguments.peer_python} if arguments.peer_python else {}
    output, _ = processor_seconds([sys.executable, "tests/benchmarks/driving_peer.py", "--batch", str(arguments.batch)], environment)
    print("driving_peer.py, 1 process:", output.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
