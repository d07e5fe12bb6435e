#!/usr/bin/env python3
"""Compares data_prep convert with converters in Python on the same floating car data, in turns.

  tests/benchmarks/compare_convert.py [--gigabytes 2] [--rounds 3] [--parser expat|etree] [--work graph] [--folder /tmp]

The input is synthetic: vehicles on a three-lane ring, in the format that SUMO writes. --work chooses the work in Python:
  graph    the same as convert: node rows with leaders and followers, the 8 nearest neighbours within 50 m and their
           features, in shuffled and deflated chunks (level 1); uses numpy (from pip or .deps/tools)
  columns  converts numbers and appends them as packed columns to plain files; no graph, no compression
  parse    the parser calls an empty function for every vehicle
The results are medians over rounds. The machine's speed drifts, so compare only ratios from one call.
"""
import argparse, json, statistics, subprocess, sys, tempfile, time, zlib
from array import array
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "data_prep" / "data_prep"
LANES, SPACING_M, VEHICLES = 3, 30.0, 1200


def generate(path, gigabytes):
    """Writes steps of one second until the file has this size."""
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
    """The data that the Python converter keeps: packed columns, one frame at a time."""

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


class Graphs(Columns):
    """Node rows, incoming edges and their features, in compressed chunks."""

    FEATURES, REACH_M, NEIGHBOURS, CHUNK_ROWS = 52, 50.0, 8, 2048

    def __init__(self, folder):
        sys.path.append(str(PROGRAM.parents[1] / ".deps" / "tools"))
        import numpy
        self.np = numpy
        self.covered = {}
        self.pending = {"numbers": [], "edges": []}
        super().__init__(folder)
        self.files["edges"] = open(Path(folder) / "edges", "wb")

    def end(self):
        np = self.np
        n = len(self.id)
        x, y, speed, pos, accel, lane = np.frombuffer(self.numbers, np.float32).reshape(n, 6).T
        rows = np.zeros((n, self.FEATURES), np.float32)
        rows[:, 1], rows[:, 2], rows[:, 3] = speed, accel, lane
        rows[:, 0] = [self.cover(i, p) for i, p in zip(self.id, pos.tolist())]
        order = np.lexsort((pos, lane))
        rear, front = order[:-1], order[1:]
        same = lane[rear] == lane[front]
        rear, front = rear[same], front[same]
        gap = np.clip(pos[front] - pos[rear] - 5, 0, 100)
        rows[:, 22] = rows[:, 24] = 100
        rows[rear, 22] = rows[front, 24] = gap
        rows[rear, 23] = speed[front] - speed[rear]
        rows[front, 25] = -rows[rear, 23]
        square = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2
        np.fill_diagonal(square, np.inf)
        nearest = np.argpartition(square, self.NEIGHBOURS, axis=1)[:, :self.NEIGHBOURS]
        within = np.take_along_axis(square, nearest, axis=1) <= self.REACH_M ** 2
        to = np.repeat(np.arange(n), within.sum(axis=1))
        source = nearest[within]
        ahead, faster = x[source] - x[to], speed[source] - speed[to]
        room = np.abs(ahead) - 5
        on_lane = lane[source] == lane[to]
        with np.errstate(divide="ignore", invalid="ignore"):
            closing = np.where(ahead > 0, -faster, faster)
            ttc = np.where(on_lane & (closing > 0), np.clip(room / closing, 0, 10), 10)
            thw = np.where(on_lane, np.clip(room / np.where(ahead > 0, speed[to], speed[source]), 0, 10), 10)
        self.write("numbers", rows)
        self.write("edges", np.stack([ahead, faster, ttc, thw, source.astype(np.float32)], axis=1).astype(np.float32))
        self.id.tofile(self.files["id"])
        self.rows += n
        self.begin()

    def cover(self, vehicle, pos):
        before, covered = self.covered.get(vehicle, (pos, 0.0))
        covered += max(0.0, pos - before)
        self.covered[vehicle] = (pos, covered)
        return covered

    def write(self, name, rows):
        self.pending[name].append(rows)
        if sum(map(len, self.pending[name])) < self.CHUNK_ROWS:
            return
        chunk = self.np.concatenate(self.pending[name])
        self.pending[name] = []
        shuffled = self.np.ascontiguousarray(chunk.view(self.np.uint8).reshape(-1, 4).T)
        self.files[name].write(zlib.compress(shuffled, 1))


class Nothing:
    rows = 0

    def __init__(self, folder):
        pass

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
    command = [sys.executable, __file__, "--child", str(path), "--parser", args.parser, "--work", args.work,
               "--folder", str(folder)]
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
    options.add_argument("--work", choices=("graph", "columns", "parse"), default="graph")
    options.add_argument("--folder", default=tempfile.gettempdir())
    options.add_argument("--child", help=argparse.SUPPRESS)
    options.add_argument("--convert-arguments", default="", help="further arguments of data_prep convert")
    args = options.parse_args()
    if args.child:
        sink = {"graph": Graphs, "columns": Columns, "parse": Nothing}[args.work]
        convert_in_python(args.child, args.parser, sink(args.folder))
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
                  f"Python ({args.parser}, {args.work}) {theirs[-1]:.1f} s", flush=True)
        print(f"medians: {statistics.median(ours):.1f} s and {statistics.median(theirs):.1f} s, "
              f"{statistics.median(theirs) / statistics.median(ours):.2f} times as fast")


if __name__ == "__main__":
    main()
