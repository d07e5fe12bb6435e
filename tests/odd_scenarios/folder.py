"""The folder of one scenario: networks by netconvert and netgenerate, and files written by hand."""
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

# odd_scenarios.py sets these environment variables.
SUMO_BIN = Path(os.environ.get("ODD_SUMO", ""))
NETWORKS = Path(os.environ.get("ODD_NETWORKS", ""))  # cache of networks that scenarios have built

ARMS = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
THROUGH = ("nc cs", "sc cn", "ec cw", "wc ce")


class BuildError(Exception):
    """netconvert or netgenerate refused its input, so that there is no scenario to check."""


def run_tool(name, *args):
    done = subprocess.run([SUMO_BIN / name, *map(str, args)], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise BuildError(f"{name} {' '.join(map(str, args))}:\n{done.stderr}{done.stdout}")


class Folder:
    """Writes the files of a scenario into the folder `path`. Relative file names refer to this folder."""

    def __init__(self, path):
        self.path = Path(path)
        self.path.mkdir(parents=True)
        self.sumocfg = self.path / "case.sumocfg"
        self.net_name = "net.net.xml"
        self.routes_written = []
        self.additional_written = []
        self.triggered = set()  # vehicles that depart when something else happens, not at a time

    # Files.

    def write(self, name, text):
        self.triggered.update(re.findall(r'id="([^"]+)"[^>]* depart="(?:triggered|containerTriggered|split)"', text))
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".gz"):
            with gzip.open(file, "wt", encoding="utf-8") as out:
                out.write(text)
        else:
            file.write_text(text, encoding="utf-8")
        return file

    def routes(self, text, name="demand.rou.xml"):
        """Writes a route file, which the configuration names."""
        self.routes_written.append(name)
        return self.write(name, f"<routes>{text}</routes>")

    def additional(self, text, name="more.add.xml"):
        """Writes an additional file, which the configuration names."""
        self.additional_written.append(name)
        return self.write(name, f"<additional>{text}</additional>")

    def config(self, end=80, options="", begin=None):
        """Writes the .sumocfg with the files written so far. `options` is XML, such as <seed value="3"/>."""
        text = f'<net-file value="{self.net_name}"/>'
        if self.routes_written:
            text += f'<route-files value="{",".join(self.routes_written)}"/>'
        if self.additional_written:
            text += f'<additional-files value="{",".join(self.additional_written)}"/>'
        if begin is not None:
            text += f'<begin value="{begin}"/>'
        if end is not None:
            text += f'<end value="{end}"/>'
        self.sumocfg.write_text(f"<configuration>{text}{options}</configuration>", encoding="utf-8")

    # Networks.

    def convert(self, nodes, edges, *args, lights=""):
        """Builds the network by netconvert from plain XML."""
        plain = {"-n": f"<nodes>{nodes}</nodes>", "-e": f"<edges>{edges}</edges>"}
        if lights:
            plain["-i"] = f"<tlLogics>{lights}</tlLogics>"
        self.build("netconvert", plain, args)

    def generate(self, *args):
        """Builds the network by netgenerate."""
        self.build("netgenerate", {}, args)

    def build(self, tool, plain, args):
        """Runs the tool, or copies the network if it has run with the same input before."""
        compressed = self.net_name.endswith(".gz")
        key = hashlib.sha256(repr((tool, plain, args, compressed)).encode()).hexdigest()
        known = NETWORKS / (key + (".net.xml.gz" if compressed else ".net.xml"))
        if not known.exists():
            with tempfile.TemporaryDirectory(dir=NETWORKS) as room:
                command = []
                for option, text in plain.items():
                    file = Path(room) / f"plain{option}.xml"
                    file.write_text(text, encoding="utf-8")
                    command += [option, file]
                built = Path(room) / known.name
                run_tool(tool, *command, "-o", built, *args)
                os.replace(built, known)
        shutil.copyfile(known, self.path / self.net_name)

    def crossing(self, kind="priority", *args, lanes=1, length=120, node="", edge="", lights=""):
        """Four arms around the node c: edges nc, cn, ec, ... The streams between e and w have priority."""
        nodes = f'<node id="c" x="0" y="0" type="{kind}" {node}/>'
        edges = ""
        for arm, (x, y) in ARMS.items():
            nodes += f'<node id="{arm}" x="{x * length}" y="{y * length}"/>'
            priority = 3 if arm in "ew" else 1
            common = f'numLanes="{lanes}" priority="{priority}" {edge}'
            edges += f'<edge id="{arm}c" from="{arm}" to="c" {common}/>'
            edges += f'<edge id="c{arm}" from="c" to="{arm}" {common}/>'
        self.convert(nodes, edges, *args, lights=lights)

    def net_text(self):
        opener = gzip.open if self.net_name.endswith(".gz") else open
        with opener(self.path / self.net_name, "rt", encoding="utf-8") as file:
            return file.read()

    def net_root(self):
        return ElementTree.fromstring(self.net_text())

    def num_links(self, light="c"):
        """The number of links that a light controls."""
        return sum(link.get("tl") == light for link in self.net_root().iter("connection"))


def flows(pairs=THROUGH, rate='probability="0.1"', begin=0, end=60, inside="", prefix="f"):
    """One flow for each pair "from to" of edges. `end` may be None."""
    text = ""
    until = "" if end is None else f'end="{end}"'
    for number, pair in enumerate(pairs):
        start, goal = pair.split()
        text += (f'<flow id="{prefix}{number}" begin="{begin}" {until} from="{start}" to="{goal}" {rate}>'
                 f"{inside}</flow>")
    return text
