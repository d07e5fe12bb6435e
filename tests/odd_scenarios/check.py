"""The check of one scenario: SUMO itself runs it, then our programs, and the results are compared."""
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from folder import Folder

SEED = 7
TIMEOUT_S = 120  # far more than any of the programs takes, also on a busy machine
CONFIGS = Path(__file__).resolve().parents[2] / "configs"
REFUSALS = (2, 3)  # exit codes for bad configuration and bad data, see docs/reference/exit-codes.md
LONGEST_LINE = 1500
DIGITS = 3  # SUMO computes times in milliseconds
ROUNDING_S = 0.5 * 10**-DIGITS


class Result:
    """Runs a program, and holds its exit code (None after a timeout) and its output."""

    def __init__(self, command, cwd):
        self.command = " ".join(map(str, command))
        try:
            done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
            self.code = done.returncode
            self.out, self.err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        except subprocess.TimeoutExpired as late:
            self.code = None
            self.out, self.err = ((text or b"").decode("utf-8", "replace") for text in (late.stdout, late.stderr))

    @property
    def last_line(self):
        lines = self.err.strip().splitlines()
        return lines[-1] if lines else ""


def snapshot(folder):
    """Names and contents of all files below the folder."""
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "folder"
            for file in sorted(Path(folder).rglob("*"))}


def comparable(message):
    """The message without spaces and quoted names. With another seed, another vehicle may cause the message."""
    return re.sub(r"'[^']*'|\s+", "", message)


def without_numbers(message):
    """The message without numbers, names and folders, which differ between runs."""
    return re.sub(r"'[^']*'|[\d.]+", "", message)


class Trips:
    """Results of an episode according to SUMO's trip information and statistics."""

    def __init__(self, trip_file, statistics_file, triggered):
        """@param triggered vehicles that depart when something happens; SUMO's statistics do not count them as waiting"""
        self.departed = self.arrived = self.running = self.waiting = 0
        self.time_loss_s = self.depart_delay_s = 0.0
        for trip in ElementTree.parse(trip_file).getroot().iter("tripinfo"):
            departed = float(trip.get("depart")) >= 0
            delay_ms = round(1000 * float(trip.get("departDelay")))
            # Until a triggered vehicle may depart, SUMO states the time of its departure as -1 ms. With --scale a vehicle t
            # has copies t.1, t.2 ...
            if not departed and trip.get("id").split(".")[0] in triggered and delay_ms % 10 == 1:
                continue
            ended = float(trip.get("arrival")) >= 0
            vaporized = bool(trip.get("vaporized"))
            self.departed += departed
            self.waiting += not departed
            self.arrived += ended and not vaporized
            self.running += departed and not ended
            self.time_loss_s += float(trip.get("timeLoss")) if departed else 0.0
            self.depart_delay_s += float(trip.get("departDelay"))
        statistics = ElementTree.parse(statistics_file).getroot()
        vehicles = statistics.find("vehicles")
        self.statistics = {name: int(vehicles.get(name)) for name in ("inserted", "running", "waiting")}
        self.loaded = int(vehicles.get("loaded"))
        self.teleports = int(statistics.find("teleports").get("total"))
        self.emergency_stops = int(statistics.find("safety").get("emergencyStops"))

    @property
    def vehicles(self):
        return self.departed + self.waiting


class Check:
    def __init__(self, case, room, programs, sumo):
        self.case = case
        self.room = room
        self.programs = programs
        self.sumo = sumo
        self.problems = []
        self.elsewhere = room / "elsewhere"  # our programs start here and must not write here

    def run(self):
        """@return descriptions of all differences and other problems"""
        self.elsewhere.mkdir()
        folder = Folder(self.room / "scenario")
        self.case.write(folder)
        before = snapshot(folder.path)
        copy = self.room / "reference"
        shutil.copytree(folder.path, copy, symlinks=True)
        reference = copy / folder.sumocfg.relative_to(folder.path)
        self.cfg = folder.sumocfg
        self.triggered = folder.triggered
        original = self.simulate(reference, "reference", ["--end", "60"] if self.case.endless else [])
        if original.code is None:
            return [f"SUMO itself does not end within {TIMEOUT_S} s: {original.command}"]
        if original.code < 0:  # a defect of SUMO: nothing can be compared
            return [] if self.case.is_random else [f"SUMO itself crashes ({original.code}): {original.command}"]
        if (original.code != 0) != self.case.breaks and not self.case.is_random:
            self.say(f"SUMO {'runs' if self.case.breaks else 'refuses'} the scenario", original)
        evaluated = self.evaluate(original)
        if self.case.examined:
            self.check_stdout(self.ours("traffic_doctor", "--scenario", self.cfg, "--json", *self.settings([])))
        if original.code != 0:
            self.compare_refusals(original, evaluated)
        elif evaluated.code == 0:
            self.compare(reference, evaluated)
        if evaluated.code == 0 and self.case.refused:
            self.say(f"a refusal with '{self.case.refused}' was expected", evaluated)
        no_end = self.case.is_random and "the scenario has no end" in evaluated.err
        if evaluated.code != 0 and original.code == 0 and not no_end and (
                not self.case.refused or self.case.refused not in evaluated.err):
            self.say("traffic_eval refuses a scenario that SUMO runs", evaluated)
        if self.case.trains:
            # If simulations fail, a training ends with exit code 6, see docs/reference/exit-codes.md.
            self.ours("traffic_train", CONFIGS / "any.toml", "--dry-run", "--run-dir", self.room / "run",
                      "--set", f"env.scenario={json.dumps(str(self.cfg), ensure_ascii=False)}", *self.settings([]),
                      allowed=REFUSALS if original.code == 0 else (*REFUSALS, 6))
        if self.case.records:
            self.record()
        after = snapshot(folder.path)
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                self.problems.append(f"our programs changed or made {name} in the scenario's folder")
        if os.listdir(self.elsewhere):
            self.problems.append(f"our programs made {os.listdir(self.elsewhere)} in the folder where they were started")
        return self.problems

    def say(self, what, result=None):
        text = what
        if result is not None:
            text += f"\n$ {result.command}\nexit {result.code}\n{result.err[-1500:]}{result.out[-500:]}"
        self.problems.append(text)

    # Programs.

    def outputs(self, name):
        return ["--tripinfo-output", str(self.room / f"{name}_trips.xml"), "--tripinfo-output.write-unfinished", "true",
                "--tripinfo-output.write-undeparted", "true", "--statistic-output",
                str(self.room / f"{name}_statistics.xml"), "--precision", str(DIGITS), "--human-readable-time", "false"]

    def simulate(self, sumocfg, name, more=()):
        return Result([self.sumo / "sumo", "-c", sumocfg, "--seed", str(SEED), "--random", "false", "--remote-port",
                       "0", *self.outputs(name), *self.case.args, *more], self.room)

    def settings(self, sumo_args):
        """Options of our programs. Half of the vehicles are connected."""
        return ["--set", f"env.sumo_args={json.dumps(self.case.args + sumo_args)}", "--set", "env.cv_share=0.5"]

    def ours(self, program, *arguments, allowed=REFUSALS):
        """Runs one of our programs and checks the rules that hold for all of them."""
        result = Result([self.programs / program, *arguments], self.elsewhere)
        if result.code is None:
            self.say(f"{program} does not end within {TIMEOUT_S} s", result)
        elif result.code != 0 and result.code not in allowed:
            self.say(f"{program} neither runs nor refuses the scenario", result)
        elif result.code != 0 and program != "traffic_doctor":
            names = [str(self.cfg), str(self.cfg.parent)]
            if not any(name in result.last_line for name in names):
                self.say(f"the last line of {program} does not name the file", result)
            if len(result.last_line) > LONGEST_LINE:
                self.say(f"the last line of {program} has {len(result.last_line)} characters", result)
        return result

    def record(self):
        for number, kind in enumerate(([], ["--scenes"])):
            data = self.room / f"recorded_{number}"
            made = self.ours("data_prep", "record", "--scenario", self.cfg, "--episodes", "1", "--jobs", "1", "--out",
                             data, *kind)
            if made.code == 0:
                self.ours("data_prep", "verify", *sorted(data.glob("*.h5")), allowed=())

    def evaluate(self, original):
        result = self.ours("traffic_eval", "--scenario", self.cfg, "--controller", "none", "--seeds", f"{SEED}..{SEED}",
                           "--jobs", "1", "--json", *self.settings(self.outputs("ours")))
        self.check_stdout(result)
        said = {without_numbers(line) for line in original.err.splitlines()}
        for line in result.err.splitlines():
            # SUMO prints errors about some problems that it then ignores.
            if not line.startswith("traffic_eval: ") and without_numbers(line) not in said:
                self.say(f"a line on stderr comes neither from traffic_eval nor from SUMO: {line}", result)
                break
        return result

    def check_stdout(self, result):
        """Checks that stdout contains JSON and nothing else, or is empty after a refusal."""
        if not result.out and result.code != 0:
            return
        try:
            json.loads(result.out)
        except ValueError as error:
            self.say(f"stdout is not JSON: {error}", result)

    # Comparisons.

    def compare_refusals(self, original, evaluated):
        """Checks that our program refuses the scenario with SUMO's reason, the first line of SUMO with "Error:"."""
        errors = re.findall(r"^Error: *(.+)$", original.err, re.M)
        reason = errors[0].replace("/reference/", "/scenario/") if errors else ""  # SUMO may say nothing
        if evaluated.code == 0:
            self.say(f"traffic_eval runs a scenario that SUMO refuses: {reason}", evaluated)
        elif comparable(reason) not in comparable(evaluated.last_line):
            self.say(f"traffic_eval refuses the scenario without SUMO's reason: {reason}", evaluated)

    def compare(self, reference, evaluated):
        """Checks that counts, delays and the trip of every vehicle equal those of SUMO."""
        try:
            episode = json.loads(evaluated.out)["episodes"][0]
        except (ValueError, LookupError):
            return  # check_stdout() has reported it
        chosen = re.search(r"the program sets env.max_time_s = (\d+)", evaluated.err)
        if chosen:  # the scenario has no end
            begin = re.search(r'<(?:begin|b) value="([\d.]+)"', self.cfg.read_text(encoding="utf-8"))
            end = float(begin.group(1) if begin else 0) + int(chosen.group(1))
            self.simulate(reference, "reference", ["--end", str(end)])
        trips = Trips(self.room / "reference_trips.xml", self.room / "reference_statistics.xml", self.triggered)
        if (trips.departed == 0) != self.case.empty and not self.case.is_random:
            self.problems.append(f"{trips.departed} vehicles depart in SUMO: the case does not test its subject")
        if not self.case.loads_state and trips.statistics != {
                "inserted": trips.departed, "running": trips.running, "waiting": trips.waiting}:
            self.problems.append(f"SUMO's trip information and statistics differ: {vars(trips)}")
        wanted = {"arrived": trips.arrived, "waiting": trips.waiting, "emergency_stops": trips.emergency_stops,
                  "teleports": trips.teleports}
        if self.case.discards:
            wanted["discarded"] = trips.loaded - trips.departed - trips.waiting
        for name, value in wanted.items():
            self.equal(name, episode[name], value, 0)
        rounding_s = ROUNDING_S * trips.vehicles + 1e-6
        if not self.case.loads_state:
            self.equal("time_loss_s", episode["time_loss_s"], trips.time_loss_s, rounding_s)
            if not self.case.discards:  # SUMO's trip information leaves discarded vehicles out
                self.equal("depart_delay_s", episode["depart_delay_s"], trips.depart_delay_s, rounding_s)
        # No metric counts the vehicles that departed or wait. The delay is a mean over them, so it gives their number.
        lost_s = episode["time_loss_s"] + episode["depart_delay_s"]
        if episode["delay_s"] > 0:
            vehicles = trips.vehicles + episode["discarded"]
            self.equal("vehicles", lost_s / episode["delay_s"], vehicles, 1e-6 * vehicles)
        # The trips of all vehicles must be the same. Our programs read the simulation in every step, which must not change
        # it.
        ours, sumos = (self.trip_lines(name) for name in ("ours", "reference"))
        if ours != sumos:
            first = next((pair for pair in zip(ours, sumos) if pair[0] != pair[1]), (len(ours), len(sumos)))
            self.problems.append(f"the trips differ, first in\n  ours: {first[0]}\n  SUMO: {first[1]}")

    def equal(self, name, ours, sumos, tolerance):
        if abs(ours - sumos) > tolerance:
            self.problems.append(f"{name}: {ours} in traffic_eval, {sumos} in SUMO")

    def trip_lines(self, name):
        text = (self.room / f"{name}_trips.xml").read_text(encoding="utf-8")
        # Our runs have no devices that only write output, so the names of devices differ.
        return [re.sub(' devices="[^"]*"', "", line) for line in text.splitlines() if "info " in line]
