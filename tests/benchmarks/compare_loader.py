#!/usr/bin/env python3
"""Compares the loader with h5py and torch's DataLoader on the same compressed files, cold and warm, in turns.

  python3 -m venv /tmp/peer && /tmp/peer/bin/pip install torch==2.15.0 h5py numpy
  tests/benchmarks/compare_loader.py --peer-python /tmp/peer/bin/python [--data 'data/merge/*.h5'] [--rounds 3]

Both sides make the same batches of 32 windows for an epoch, with two threads or worker processes; the numbers of windows,
vehicles and edges must be equal. "Cold" means that the files are not in the page cache when the epoch begins. "Warm" is the
following epoch, in which the peer's workers are already running. The peer reads windows in random order, like a DataLoader
with shuffle. With --order recorded it reads them in sequence. This suits its chunk cache, but not a training. Without --data,
twelve episodes of merge are recorded. Results are medians over rounds; compare only ratios from one call.
"""
import argparse, ctypes, glob, json, mmap, os, statistics, sys, tempfile
from pathlib import Path

from whole_programs import environment, output_of, program

OURS = "loader_epoch/threads:2/augment:0/real_time"


def evict(paths):
    """Removes these files from the page cache; other files stay."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def resident_share(path):
    """Share of a file's pages that are in the page cache."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
        pages = -(-len(mapped) // mmap.PAGESIZE)
        seen = (ctypes.c_ubyte * pages)()
        place = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        if ctypes.CDLL(None, use_errno=True).mincore(ctypes.c_void_p(place), ctypes.c_size_t(len(mapped)), seen):
            raise OSError(ctypes.get_errno(), "mincore")
        return sum(byte & 1 for byte in seen) / pages


def ours(files):
    """Runs an epoch of our loader in a process of its own."""
    command = [program("bench_loader"), f"--benchmark_filter={OURS}$", "--benchmark_min_time=1e-9", "--benchmark_format=json"]
    out = output_of(command, env=environment(BENCH_DATA=files))
    row = json.loads(out)["benchmarks"][0]
    if row["iterations"] != 1:
        sys.exit(f"{OURS}: {row['iterations']} epochs, expected 1")
    counts = {what: round(row[f"{name}_per_epoch"]) for what, name in
              (("windows", "samples"), ("vehicles", "vehicles"), ("edges", "edges"))}
    return dict(seconds=row["real_time"] / 1e3, **counts)


def peer(args, files):
    """Runs a cold epoch of the peer and the warm epoch after it."""
    script = Path(__file__).with_name("loader_peer.py")
    out = output_of([args.peer_python, script, files, "--order", args.order], env=environment())
    return [json.loads(line) for line in out.splitlines()]


def record(folder):
    command = [str(Path(__file__).resolve().parents[2] / "data_prep" / "data_prep"), "record", "--scenario", "merge", "--episodes",
               "12", "--seeds", "1", "--split", "1,0,0", "--out", str(folder)]
    output_of(command)
    return str(Path(folder) / "*.h5")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peer-python", help="an interpreter with torch, h5py and numpy")
    options.add_argument("--data", help="a path or glob")
    options.add_argument("--order", choices=("shuffled", "recorded"), default="shuffled", help="order in which the peer reads windows")
    options.add_argument("--rounds", type=int, default=3)
    args = options.parse_args()
    if not args.peer_python:
        print("--peer-python is not given: the peer's columns are left out")
    with tempfile.TemporaryDirectory(dir=".") as folder:
        files = args.data or record(folder)
        paths = sorted(glob.glob(files))
        print(f"{len(paths)} files, {sum(os.path.getsize(p) for p in paths) / 2**20:.0f} MiB", flush=True)
        rates = {(who, state): [] for who in ("ours", "peer") for state in ("cold", "warm")}
        for _ in range(args.rounds):
            evict(paths)
            print(f"in the page cache: {max(map(resident_share, paths)):.0%}; ", end="")
            epochs = {"ours": [ours(files), ours(files)]}
            if args.peer_python:
                evict(paths)
                epochs["peer"] = peer(args, files)
            counts = {tuple(e[k] for k in ("windows", "vehicles", "edges")) for both in epochs.values() for e in both}
            if len(counts) != 1:
                sys.exit(f"the sides did not do the same work (windows, vehicles, edges): {counts}")
            for who, both in epochs.items():
                for state, epoch in zip(("cold", "warm"), both):
                    rates[who, state].append(epoch["windows"] / epoch["seconds"])
            print(", ".join(f"{who} {state} {values[-1]:.0f} windows/s" for (who, state), values in rates.items() if values), flush=True)
        for state in ("cold", "warm"):
            text = f"{state}: {statistics.median(rates['ours', state]):.0f} windows/s"
            if args.peer_python:
                ratios = [a / b for a, b in zip(rates["ours", state], rates["peer", state])]
                text += (f" | h5py and DataLoader {statistics.median(rates['peer', state]):.0f} | {statistics.median(ratios):.1f} "
                         f"times as many ({min(ratios):.1f} to {max(ratios):.1f})")
            print(text)


if __name__ == "__main__":
    sys.exit(main())
