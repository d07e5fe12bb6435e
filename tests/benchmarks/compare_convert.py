#!/usr/bin/env python3
"""data_prep convert beside a converter in Python, on the same floating car data, in turn.

  tests/benchmarks/compare_convert.py [--gigabytes 2] [--rounds 3] [--parser expat|etree] [--folder /tmp]

The file is made up: vehicles on a three-lane ring, written as SUMO writes them. The Python side does less than ours: it
parses with expat (or ElementTree's iterparse), converts the numbers, and appends packed columns (place, speed, lane
position, acceleration, ids) to plain files; no neighbours, leaders, checksums or compression. `--python-parse-only` leaves
out even that. Figures are medians over rounds; the machine's speed drifts, so only ratios of one call mean something.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time
from array import array
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "data_prep" / "data_prep"
LANES, SPACING_M, VEHICLES = 3, 30.0, 1200


def generate(path, gigabytes):
    """Writes steps of one second until the file is so large."""
    wanted = int(gigabytes * 1e9)
    length = SPACING_M * VEHICLES / LANES
    state = [[f"v{i}", i % LANES, SPACING_M * (i // LANES), 20.0 + (i * 7 % 40) / 10] for i in range(VEHICLES)]
    with open(path, "w") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n\n<fcd-export>\n')
        t = 0
        while out.tell() < wanted if t % 20 == 0 else True:
            lines = [f'    <timestep time="{t}.00">\n']
            for vehicle in state:
                name, lane, position, speed = vehicle
                accel = ((t * 31 + len(name) * 17 + int(position)) % 21 - 10) / 10
                lines.append(f'        <vehicle id="{name}" x="{position:.2f}" y="{3.2 * lane:.2f}" angle="90.00" type="cv" '
                             f'speed="{speed:.2f}" pos="{position:.2f}" lane="ring_{lane}" slope="0.00" '
                             f'acceleration="{accel:.2f}"/>\n')
                vehicle[2] = (position + speed) % length
                vehicle[3] = min(30.0, max(10.0, speed + accel))
            lines.append("    </timestep>\n")
            out.writelines(lines)
            t += 1
        out.write("</fcd-export>\n")


class Columns:
    """What the Python converter keeps: packed columns, a frame at a time."""

    def __init__(self, folder):
        self.ids = {}
        self.files = {name: open(Path(folder) / name, "wb") for name in ("numbers", "id", "ptr")}
        self.rows = 0
        self.begin()

    def begin(self):
        self.numbers, self.id = array("f"), array("I")

    def vehicle(self, a):
        self.numbers.extend((float(a["x"]), float(a["y"]), float(a["speed"]), float(a["pos"]), float(a["acceleration"]),
                             float(a["lane"].rsplit("_", 1)[1])))
        self.id.append(self.ids.setdefault(a["id"], len(self.ids)))

    def end(self):
        self.rows += len(self.id)
        self.numbers.tofile(self.files["numbers"])
        self.id.tofile(self.files["id"])
        array("q", [self.rows]).tofile(self.files["ptr"])
        self.begin()


class Nothing:
    rows = 0

    def vehicle(self, a):
        self.rows += 1

    def begin(self):
        pass

    end = begin


def convert_in_python(path, parser, sink):
    if parser == "etree":
        from xml.etree.ElementTree import iterparse
        for _, element in iterparse(path):
            if element.tag == "vehicle":
                sink.vehicle(element.attrib)
            elif element.tag == "timestep":
                sink.end()
            element.clear()
        return
    from xml.parsers import expat
    reader = expat.ParserCreate()

    def start(name, attributes):
        if name == "vehicle":
            sink.vehicle(attributes)

    def end(name):
        if name == "timestep":
            sink.end()

    reader.StartElementHandler, reader.EndElementHandler = start, end
    with open(path, "rb") as file:
        reader.ParseFile(file)


def python_seconds(args, path, folder):
    command = [sys.executable, __file__, "--child", str(path), "--parser", args.parser, "--folder", str(folder)]
    command += ["--python-parse-only"] * args.python_parse_only
    begin = time.monotonic()
    subprocess.run(command, check=True)
    return time.monotonic() - begin


def our_seconds(path, folder, extra):
    begin = time.monotonic()
    done = subprocess.run([PROGRAM, "convert", path, "--out", Path(folder) / "out.h5", "--force", "--json", *extra],
                          check=True, stdout=subprocess.PIPE)
    return time.monotonic() - begin, json.loads(done.stdout)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gigabytes", type=float, default=2)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--parser", choices=("expat", "etree"), default="expat")
    options.add_argument("--python-parse-only", action="store_true")
    options.add_argument("--folder", default=tempfile.gettempdir())
    options.add_argument("--child", help=argparse.SUPPRESS)
    options.add_argument("--convert-arguments", default="", help="further arguments of data_prep convert")
    args = options.parse_args()
    if args.child:
        convert_in_python(args.child, args.parser, Nothing() if args.python_parse_only else Columns(args.folder))
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / "large.fcd.xml"
        generate(path, args.gigabytes)
        print(f"{path.stat().st_size / 1e9:.2f} GB of floating car data", flush=True)
        ours, theirs = [], []
        for round_number in range(args.rounds):
            seconds, said = our_seconds(path, folder, args.convert_arguments.split())
            ours.append(seconds)
            theirs.append(python_seconds(args, path, folder))
            print(f"round {round_number + 1}: data_prep convert {seconds:.1f} s, peak "
                  f"{said['peak_rss_bytes'] / 1e6:.0f} MB, {said['inputs'][0]['rows']} rows; "
                  f"Python ({args.parser}) {theirs[-1]:.1f} s", flush=True)
        print(f"medians: {statistics.median(ours):.1f} s and {statistics.median(theirs):.1f} s, "
              f"{statistics.median(theirs) / statistics.median(ours):.2f} times as fast")


if __name__ == "__main__":
    main()
