"""Random scenarios: combines randomly drawn networks, lights, demand, options and additional files."""
from random import Random

from cases import Case

JUNCTIONS = ("priority", "traffic_light", "right_before_left", "left_before_right", "unregulated", "priority_stop",
             "allway_stop", "zipper", "traffic_light_right_on_red", "traffic_light_unregulated")
LIGHTS = ("static", "actuated", "delay_based")
CLASSES = ("passenger", "bus", "truck", "motorcycle", "bicycle", "emergency", "taxi", "delivery", "moped", "tram",
           "rail")
MODELS = ("Krauss", "IDM", "ACC", "CACC", "EIDM", "W99", "KraussOrig1")
LANES = ("first", "random", "free", "allowed", "best", "best_prob", "0", "9")
SPEEDS = ("0", "max", "random", "desired", "avg", "last", "speedLimit", "50")
POSITIONS = ("base", "random", "free", "random_free", "last", "15", "-10", "5000")
OPTIONS = {
    "step-length": ("0.1", "0.25", "0.5", "1", "2"), "lateral-resolution": ("0.4", "0.8", "3.2"),
    "time-to-teleport": ("-1", "5", "30"), "time-to-teleport.remove": ("true",), "time-to-teleport.highways": ("10",),
    "ignore-junction-blocker": ("4",), "scale": ("0", "0.5", "1.3", "3"), "step-method.ballistic": ("true",),
    "collision.action": ("none", "warn", "teleport", "remove"), "collision.check-junctions": ("true",),
    "max-num-vehicles": ("7",), "no-internal-links": ("true",), "threads": ("2",),
    "route-steps": ("5", "0"), "eager-insert": ("true",), "default.speeddev": ("0.3",),
    "default.action-step-length": ("2",), "lanechange.duration": ("2.5",), "lanechange.overtake-right": ("true",),
    "device.rerouting.probability": ("0.7",), "device.rerouting.period": ("7",), "device.ssm.probability": ("0.5",),
    "device.bluelight.probability": ("0.2",), "device.glosa.probability": ("0.5",), "device.taxi.probability": ("0.1",),
    "device.driverstate.probability": ("0.3",), "device.emissions.probability": ("1",),
    "tls.all-off": ("true",), "tls.actuated.jam-threshold": ("20",), "extrapolate-departpos": ("true",),
    "fcd-output": ("fcd.xml",), "summary-output": ("summary.xml",), "save-state.period": ("20",), "verbose": ("true",),
    "remote-port": ("8888",), "random": ("true",), "seed": ("99",), "precision": ("4",), "no-warnings": ("true",),
    "emergencydecel.warning-threshold": ("2",), "sloppy-insert": ("true",),
    "pedestrian.model": ("nonInteracting",), "routing-algorithm": ("astar",), "weights.random-factor": ("2",),
}


def make_case(seed, number):
    """Scenario `number` of the sequence of `seed`; the same two numbers give the same files."""
    return Case(f"random_{seed}_{number}", lambda folder: Composer(folder, Random(f"{seed} {number}")).write(),
                is_random=True, examined=number % 3 == 0, trains=number % 3 == 1)


class Composer:
    def __init__(self, folder, random):
        self.folder = folder
        self.random = random

    def chance(self, probability):
        return self.random.random() < probability

    def some(self, *texts, probability=0.3):
        """Joins a random selection of the texts; each is chosen with this probability."""
        return " ".join(text for text in texts if self.chance(probability))

    def write(self):
        folder, pick = self.folder, self.random.choice
        if self.chance(0.15):
            folder.net_name = pick(("a net.net.xml", "été.net.xml", "net.net.xml.gz"))
        self.write_network()
        self.edges = [edge for edge in folder.net_root().iter("edge") if edge.get("function") is None]
        self.names = [edge.get("id") for edge in self.edges]
        self.begin = pick((0, 0, 0, 30, 3600))
        self.length = pick((40, 60, 90))
        self.stops = []
        if self.chance(0.6):
            folder.additional(self.additional())
        self.has_junction_zones = self.chance(0.3)
        parts = [self.types()] + [self.element(i) for i in range(self.random.randint(1, 9))]
        cut = self.random.randint(0, len(parts)) if self.chance(0.2) else len(parts)
        folder.routes("".join(parts[:max(1, cut)]), pick(("demand.rou.xml", "demand.rou.xml.gz", "my demand.rou.xml")))
        if cut < len(parts):
            folder.routes("".join(parts[max(1, cut):]), "more.rou.xml")
        options = "".join(f'<{name} value="{pick(OPTIONS[name])}"/>' for name in
                          self.random.sample(list(OPTIONS), self.random.randint(0, 6)))
        if self.has_junction_zones:
            options += '<junction-taz value="true"/>'
        if self.chance(0.85):
            options += '<ignore-route-errors value="true"/>'
        folder.config(self.begin + self.length if self.chance(0.95) else None, options, self.begin or None)

    # Networks.

    def write_network(self):
        shape = self.random.choice(("grid", "grid", "spider", "rand", "rand"))
        arguments = {"grid": ["--grid", "--grid.number", self.random.randint(2, 3), "--grid.length", 90,
                              "--grid.attach-length", self.random.choice((0, 0, 70))],
                     "spider": ["--spider", "--spider.arm-number", self.random.randint(3, 5), "--spider.circle-number",
                                2],
                     "rand": ["--rand", "--rand.iterations", self.random.randint(5, 25)]}[shape]
        arguments += ["--seed", self.random.randint(1, 999), "-j", self.random.choice(JUNCTIONS),
                      "-L", self.random.choice((1, 1, 2, 3)), "--tls.default-type", self.random.choice(LIGHTS)]
        for extra in (["--lefthand"], ["--opposites.guess", "true"], ["--turn-lanes", 1], ["--no-turnarounds"],
                      ["--bikelanes.guess"], ["--tls.guess"], ["--random-lanenumber"], ["--rand.random-priority"],
                      ["--tls.yellow.time", 0], ["--tls.allred.time", 2], ["--tls.layout", "incoming"],
                      ["--junctions.join"], ["--default.spreadtype", "center"], ["--tls.rebuild"]):
            if self.chance(0.12):
                arguments += extra
        if self.chance(0.2):  # netgenerate cannot combine crossings with --no-internal-links
            arguments += self.random.choice((["--sidewalks.guess", "--crossings.guess"], ["--no-internal-links"]))
        self.folder.generate(*arguments)

    def lane(self):
        """Draws a lane. @return its id and its length in m"""
        lane = self.random.choice(list(self.random.choice(self.edges).iter("lane")))
        return lane.get("id"), float(lane.get("length"))

    # Additional files.

    def additional(self):
        kinds = (self.bus_stop, self.parking, self.detectors, self.speed_sign, self.rerouter, self.calibrator,
                 self.zones, self.vaporizer, self.programs, self.charging)
        text = "".join(kind(i) for i, kind in enumerate(self.random.sample(kinds, self.random.randint(1, 4))))
        return text + self.some('<poly id="p" shape="0,0 9,0 9,9"/>', '<poi id="q" x="1" y="2"/>',
                                '<edgeData id="ed" file="ed.xml" period="20"/>')

    def area(self, tag, i, more=""):
        lane, length = self.lane()
        self.stops.append((tag, f"s{i}", lane))
        return f'<{tag} id="s{i}" lane="{lane}" startPos="{0.3 * length:.1f}" endPos="{0.8 * length:.1f}" {more}/>'

    def bus_stop(self, i):
        return self.area("busStop", i)

    def charging(self, i):
        return self.area("chargingStation", i)

    def parking(self, i):
        return self.area("parkingArea", i, 'roadsideCapacity="2"')

    def detectors(self, i):
        lane, length = self.lane()
        return (f'<e1Detector id="e{i}" lane="{lane}" pos="{length / 2:.1f}" period="10" file="e1.xml"/>'
                f'<laneAreaDetector id="a{i}" lane="{lane}" pos="1" endPos="{length / 2:.1f}" file="e2.xml"/>')

    def speed_sign(self, i):
        return f'<variableSpeedSign id="v{i}" lanes="{self.lane()[0]}"><step time="10" speed="2"/></variableSpeedSign>'

    def rerouter(self, i):
        goal = self.random.choice((f'<destProbReroute id="{self.random.choice(self.names)}" probability="1"/>',
                                   f'<closingReroute id="{self.random.choice(self.names)}"/>',
                                   f'<closingLaneReroute id="{self.lane()[0]}"/>'))
        return (f'<rerouter id="r{i}" edges="{self.random.choice(self.names)}" probability="0.6"><interval begin="0" '
                f'end="9999">{goal}</interval></rerouter>')

    def calibrator(self, i):
        edge = self.random.choice(self.names)
        return (f'<route id="cr{i}" edges="{edge}"/><calibrator id="c{i}" edge="{edge}" pos="0" period="20"><flow '
                f'begin="0" end="9999" route="cr{i}" vehsPerHour="{self.random.choice((0, 300, 1500))}" '
                'speed="9"/></calibrator>')

    def zones(self, i):
        return f'<taz id="z{i}" edges="{" ".join(self.random.sample(self.names, min(3, len(self.names))))}"/>'

    def vaporizer(self, i):
        return f'<vaporizer id="{self.random.choice(self.names)}" begin="0" end="9999"/>'

    def programs(self, _):
        text = ""
        for logic in self.folder.net_root().iter("tlLogic"):
            links = len(logic.find("phase").get("state"))
            phases = "".join(f'<phase duration="{self.random.randint(1, 15)}" minDur="3" maxDur="20" state="'
                             + "".join(self.random.choice("GGgrrryusoO") for _ in range(links)) + '"/>'
                             for _ in range(self.random.randint(1, 4)))
            text += (f'<tlLogic id="{logic.get("id")}" type="{self.random.choice(LIGHTS)}" programID="drawn" '
                     f'offset="{self.random.randint(0, 9)}">{phases}</tlLogic>')
        return text

    # Demand.

    def types(self):
        self.type_names = []
        text = ""
        for i in range(self.random.randint(0, 3)):
            attributes = self.some(
                'length="11"', 'maxSpeed="8"', 'speedDev="0.3"', 'minGap="0.5"', 'tau="0.3"', 'sigma="0.9"',
                'accel="1"', 'actionStepLength="2"', 'lcOpposite="5"', 'impatience="0.7"',
                'jmIgnoreFoeProb="0.8" jmIgnoreFoeSpeed="9"', 'jmDriveAfterRedTime="5"', 'scale="1.5"',
                'speedFactor="normc(1,0.2,0.2,2)"',
                'laneChangeModel="SL2015"', f'carFollowModel="{self.random.choice(MODELS)}"', 'departSpeed="3"',
                'personCapacity="2"', probability=0.15)
            text += f'<vType id="type{i}" vClass="{self.random.choice(CLASSES)}" {attributes}/>'
            self.type_names.append(f"type{i}")
        if len(self.type_names) > 1:
            text += f'<vTypeDistribution id="mix" vTypes="{" ".join(self.type_names)}" probabilities="' + " ".join(
                str(self.random.randint(1, 5)) for _ in self.type_names) + '"/>'
            self.type_names.append("mix")
        return text

    def departure(self):
        pick = self.random.choice
        return self.some(f'departLane="{pick(LANES[:-1] if self.chance(0.9) else LANES)}"',
                         f'departSpeed="{pick(SPEEDS[:-1])}"', f'departPos="{pick(POSITIONS[:-2])}"',
                         f'arrivalPos="{pick(("random", "max", "20"))}"', f'arrivalSpeed="{pick(("current", "2"))}"',
                         f'line="{pick(("7", "x"))}"', 'departPosLat="random"', probability=0.2)

    def ends(self):
        text = f'from="{self.random.choice(self.names)}" to="{self.random.choice(self.names)}"'
        if self.chance(0.15):
            text += f' via="{self.random.choice(self.names)}"'
        if self.type_names and self.chance(0.6):
            text += f' type="{self.random.choice(self.type_names)}"'
        return f"{text} {self.departure()}"

    def inside(self):
        if not self.chance(0.2):
            return ""
        how = self.random.choice(('duration="8"', f'until="{self.begin + 30}"', 'duration="5" parking="true"',
                                  'duration="900"', 'duration="4" triggered="person"'))
        if self.stops and self.chance(0.6):
            tag, name, _ = self.random.choice(self.stops)
            return f'<stop {tag}="{name}" {how}/>'
        return f'<stop lane="{self.lane()[0]}" {how}/>'

    def element(self, i):
        kinds = (self.trip, self.flow, self.flow, self.flow, self.walk, self.ride, self.interval) + (
            (self.junctions,) if self.has_junction_zones or self.chance(0.05) else ())
        return self.random.choice(kinds)(i)

    def second(self):
        return self.begin + self.random.choice((0, 1, 2.5, 10, 20, 45, -5, 500))

    def trip(self, i):
        return f'<trip id="t{i}" depart="{self.second()}" {self.ends()}>{self.inside()}</trip>'

    def rate(self):
        # No flow has period="exp(x)": with a random --scale, SUMO may begin such a flow before the simulation. Then
        # SUMO's API states no delay for a vehicle, but its trip information states one. The table has such a flow.
        return self.random.choice(('number="5"', 'period="6"', 'vehsPerHour="700"', 'probability="0.2"',
                                   'perHour="300"', 'period="0.7"', 'probability="1"'))

    def flow(self, i):
        end = self.begin + self.random.choice((20, 50, 90))
        return f'<flow id="f{i}" begin="{self.begin}" end="{end}" {self.rate()} {self.ends()}>{self.inside()}</flow>'

    def interval(self, i):
        return (f'<interval begin="{self.begin}" end="{self.begin + 30}"><flow id="i{i}" {self.rate()} {self.ends()}/>'
                '</interval>')

    def junctions(self, i):
        nodes = [node.get("id") for node in self.folder.net_root().iter("junction") if node.get("type") != "internal"]
        return (f'<flow id="j{i}" begin="{self.begin}" end="{self.begin + 40}" period="7" '
                f'fromJunction="{self.random.choice(nodes)}" toJunction="{self.random.choice(nodes)}"/>')

    def walk(self, i):
        return (f'<personFlow id="w{i}" begin="{self.begin}" end="{self.begin + 20}" period="6"><walk '
                f'from="{self.random.choice(self.names)}" to="{self.random.choice(self.names)}"/></personFlow>')

    def ride(self, i):
        start, goal = self.random.choice(self.names), self.random.choice(self.names)
        return (f'<person id="p{i}" depart="{self.begin + 3}"><ride from="{start}" to="{goal}" lines="r{i}"/></person>'
                f'<trip id="r{i}" depart="triggered" from="{start}" to="{goal}"/>')
