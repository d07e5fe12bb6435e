"""Runs traffic_train and a peer as whole programs, for the comparisons in this folder."""
import json, os, re, statistics, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRESET = subprocess.run([str(ROOT / "launch/preset.sh")], check=True, capture_output=True, text=True).stdout.strip()


def program(name):
    """Returns the path of a program; if it is not built, exits and says how to build it."""
    path = ROOT / "build" / PRESET / "bin" / name
    if not path.exists():
        sys.exit(f"{path} is not built: run ./launch/build.sh {PRESET} {name}")
    return str(path)


def environment(**more):
    """Environment variables for one thread per process. mpirun may run as root if this script does."""
    env = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", **more)
    if os.geteuid() == 0:
        env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return env


def tail(text):
    return "\n".join(text.strip().splitlines()[-5:])


def output_of(command, **options):
    """Standard output of a program. If the program fails, exits with the last lines that it wrote."""
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if ended.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {ended.returncode}\n{tail(ended.stderr or ended.stdout)}")
    return ended.stdout


def train(config, ranks, settings, folder, options=(), device="cpu"):
    """Trains from scratch. Returns (rows of metrics.jsonl, content of summary.json).

    config: a file of configs/, or None for the defaults; settings: values of keys, as TOML writes them;
    options: further arguments of traffic_train; device: value of run.device
    """
    run_dir = Path(tempfile.mkdtemp(dir=folder))
    command = [str(ROOT / "launch/mpirun.sh"), "-np", str(ranks), program("traffic_train"),
               *([str(ROOT / "configs" / config)] if config else []),
               "--run-dir", str(run_dir), "--resume", "never", "--set", f"run.device={device}", *options]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    output_of(command, env=environment(TRAFFIC_LAUNCH_TIME=f"{time.time():.3f}"))
    rows = [json.loads(line) for line in (run_dir / "metrics.jsonl").read_text().splitlines()]
    return rows, json.loads((run_dir / "summary.json").read_text())


def add_peer_arguments(parser):
    parser.add_argument("--peer-python")
    parser.add_argument("--peer-script")
    parser.add_argument("--rounds", type=int, default=3)


def has_peer(args):
    given = bool(args.peer_python and args.peer_script)
    if not given:
        print("--peer-python and --peer-script are not given: the peer's columns are left out")
    return given


def figure(line, pattern):
    return float(re.search(pattern, line).group(1))


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def ratio_text(mine, theirs, key, digits):
    ratios = [a[key] / b[key] for a, b in zip(mine, theirs)]
    return f"ratio {statistics.median(ratios):.{digits}f} ({min(ratios):.{digits}f}-{max(ratios):.{digits}f})"
