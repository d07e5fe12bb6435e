"""Cases about junctions, roads, vehicle classes and programs of lights."""
from cases import case, crossing_with, row
from folder import THROUGH, flows

for kind in ("priority", "traffic_light", "right_before_left", "left_before_right", "unregulated", "priority_stop",
             "allway_stop", "traffic_light_unregulated", "traffic_light_right_on_red", "district"):
    row(f"junction_{kind}", crossing_with(flows(), kind))


def joining(kind):
    """Two roads of one lane that join."""
    def write(folder):
        folder.convert(f'<node id="a" x="-150" y="20"/><node id="b" x="-150" y="-20"/>'
                       f'<node id="m" x="0" y="0" type="{kind}"/><node id="z" x="150" y="0"/>',
                       '<edge id="am" from="a" to="m"/><edge id="bm" from="b" to="m"/><edge id="mz" from="m" to="z"/>')
        folder.routes(flows(("am mz", "bm mz"), 'probability="0.3"'))
        folder.config()
    return write


row("junction_zipper", joining("zipper"))


@case
def junction_dead_end(folder):
    folder.crossing("priority", "--no-turnarounds")
    folder.routes(flows() + flows(("nc ce",), 'period="20"', inside='<stop edge="ce" duration="5"/>', prefix="s"))
    folder.config()


@case
def junction_bare(folder):
    """A network without any junction between its two ends."""
    folder.convert('<node id="a" x="0" y="0"/><node id="b" x="300" y="0"/>', '<edge id="ab" from="a" to="b"/>')
    folder.routes('<flow id="f" begin="0" end="60" period="5"><route edges="ab"/></flow>')
    folder.config()


@case
def junction_rail(folder):
    folder.convert(
        '<node id="w" x="-500" y="0"/><node id="s1" x="-250" y="0" type="rail_signal"/>'
        '<node id="x" x="0" y="0" type="rail_crossing"/><node id="e" x="500" y="0"/><node id="n" x="0" y="200"/>'
        '<node id="c" x="0" y="-100"/><node id="s" x="0" y="-250"/><node id="q" x="200" y="-100"/>',
        '<edge id="t1" from="w" to="s1" allow="rail" speed="30"/>'
        '<edge id="t2" from="s1" to="x" allow="rail" speed="30"/>'
        '<edge id="t3" from="x" to="e" allow="rail" speed="30"/><edge id="r1" from="n" to="x" disallow="rail"/>'
        '<edge id="r2" from="x" to="c" disallow="rail"/><edge id="r3" from="c" to="s" disallow="rail"/>'
        '<edge id="q1" from="q" to="c" disallow="rail"/>')
    folder.routes('<vType id="train" vClass="rail"/><flow id="t" begin="0" end="60" period="30" type="train" from="t1" '
                  'to="t3"/>' + flows(("r1 r3", "q1 r3"), 'probability="0.2"'))
    folder.config()


@case(records=True)
def overtaking_on_the_opposite_lane(folder):
    """Vehicles overtake on the opposite lane; SUMO teleports those that collide there."""
    folder.convert('<node id="a" x="0" y="0"/><node id="b" x="1200" y="0"/><node id="c" x="1500" y="0"/>',
                   '<edge id="ab" from="a" to="b" speed="27"/><edge id="ba" from="b" to="a" speed="27"/>'
                   '<edge id="bc" from="b" to="c" speed="27"/><edge id="cb" from="c" to="b" speed="27"/>',
                   "--opposites.guess")
    folder.routes('<vType id="slow" maxSpeed="6"/><vType id="fast" lcOpposite="10"/>'
                  + flows(("ab bc",), 'period="30" type="slow"', end=200, prefix="s")
                  + flows(("ab bc",), 'period="7" type="fast"', end=200, prefix="f")
                  + flows(("cb ba",), 'period="40" type="fast"', end=200, prefix="o"))
    folder.config(250)


@case
def rail_crossing_of_two_tracks(folder):
    folder.convert(
        '<node id="w" x="-500" y="0"/><node id="x" x="0" y="0" type="rail_crossing"/><node id="e" x="500" y="0"/>'
        '<node id="n" x="0" y="200"/><node id="s" x="0" y="-200"/>',
        '<edge id="t1" from="w" to="x" allow="rail" speed="30"/><edge id="t2" from="x" to="e" allow="rail" speed="30"/>'
        '<edge id="u1" from="e" to="x" allow="rail" speed="30"/><edge id="u2" from="x" to="w" allow="rail" speed="30"/>'
        '<edge id="r1" from="n" to="x" disallow="rail" numLanes="2"/><edge id="r2" from="x" to="s" disallow="rail" '
        'numLanes="2"/><edge id="q1" from="s" to="x" disallow="rail"/><edge id="q2" from="x" to="n" disallow="rail"/>')
    folder.routes('<vType id="train" vClass="rail"/>'
                  + flows(("t1 t2", "u1 u2"), 'period="35" type="train"', prefix="t")
                  + flows(("r1 r2", "q1 q2"), 'probability="0.2"'))
    folder.config(150)


@case
def roundabout(folder):
    ring = {"0": (20, 0), "1": (0, 20), "2": (-20, 0), "3": (0, -20)}
    nodes = edges = ""
    for name, (x, y) in ring.items():
        nodes += f'<node id="r{name}" x="{x}" y="{y}"/><node id="o{name}" x="{7 * x}" y="{7 * y}"/>'
        edges += (f'<edge id="x{name}" from="r{name}" to="r{(int(name) + 1) % 4}" priority="5"/>'
                  f'<edge id="i{name}" from="o{name}" to="r{name}"/><edge id="u{name}" from="r{name}" to="o{name}"/>')
    folder.convert(nodes, edges, "--roundabouts.guess", "true")
    folder.routes(flows(("i0 u2", "i1 u3", "i2 u1", "i3 u0"), 'probability="0.15"'))
    folder.config()


def generated(*arguments):
    """A function that builds a network by netgenerate and a trip every two seconds between edges far apart."""
    def write(folder):
        folder.generate("--seed", 5, *arguments)
        edges = [edge.get("id") for edge in folder.net_root().iter("edge") if edge.get("function") is None]
        pairs = [f"{edges[(7 * i) % len(edges)]} {edges[(11 * i + 5) % len(edges)]}" for i in range(25)]
        trips = "".join(f'<trip id="t{i}" depart="{2 * i}" from="{pair.split()[0]}" to="{pair.split()[1]}"/>'
                        for i, pair in enumerate(pairs))
        folder.routes(trips)
        folder.config(options='<ignore-route-errors value="true"/>')
    return write


row("generated_grid", generated("--grid", "--grid.number", 3, "--grid.length", 80, "-j", "traffic_light"), trains=True)
row("generated_spider", generated("--spider", "--spider.arm-number", 4, "--spider.circle-number", 2))
row("generated_lefthand", generated("--grid", "--grid.number", 3, "--lefthand", "-L", 2, "-j", "traffic_light"))
row("generated_two_ways", generated("--grid", "--grid.number", 3, "--opposites.guess", "true"))
row("generated_pavements", generated("--grid", "--grid.number", 2, "--sidewalks.guess", "--crossings.guess"))

CLASSES = ("bus", "coach", "delivery", "emergency", "truck", "trailer", "motorcycle", "moped", "bicycle", "evehicle",
           "taxi", "tram", "rail_urban", "army", "vip", "hov", "custom1", "scooter")


@case
def every_class(folder):
    folder.crossing("traffic_light", lanes=2)
    types = "".join(f'<vType id="{name}" vClass="{name}" guiShape="bus"/>'
                    for name in CLASSES)
    trips = "".join(f'<trip id="{name}" type="{name}" depart="{3 * i}" from="{arm}" to="{goal}" departLane="best"/>'
                    for i, name in enumerate(CLASSES) for arm, goal in [THROUGH[i % 4].split()])
    folder.routes(types + trips)
    folder.config(120)


@case
def ships(folder):
    folder.crossing(edge='allow="ship" speed="8"', lanes=1)
    folder.routes('<vType id="barge" vClass="ship" length="30"/>' + flows(rate='period="15" type="barge"'))
    folder.config()


@case(empty=True)
def pedestrians_only(folder):
    folder.crossing("traffic_light", "--sidewalks.guess", "--crossings.guess")
    folder.routes('<personFlow id="p" begin="0" end="60" period="5"><walk from="nc" to="cs"/></personFlow>')
    folder.config()


@case
def bicycles_on_lanes(folder):
    folder.crossing("traffic_light", "--bikelanes.guess", "--sidewalks.guess", "--crossings.guess", lanes=2)
    folder.routes('<vType id="bike" vClass="bicycle"/>' + flows(rate='period="9" type="bike"', prefix="b") + flows()
                  + '<personFlow id="p" begin="0" end="60" period="6"><walk from="wc" to="cn"/></personFlow>')
    folder.config()


@case
def emergency_vehicles(folder):
    folder.crossing("traffic_light", lanes=2)
    folder.routes('<vType id="blue" vClass="emergency" speedFactor="1.5"><param key="has.bluelight.device" '
                  'value="true"/></vType>' + flows(rate='period="20" type="blue"', prefix="b")
                  + flows(rate='probability="0.3"'))
    folder.config(options='<lateral-resolution value="0.8"/>')


@case
def zero_lengths(folder):
    folder.crossing()
    text = folder.net_text().replace('speed="13.89" length="0.10"', 'speed="13.89" length="0.00"')
    folder.write(folder.net_name, text.replace('id="cn_0" index="0" speed="13.89"', 'id="cn_0" index="0" speed="0.00"'))
    folder.routes(flows() + flows(("sc cn",), 'period="20"', prefix="z"))
    folder.config()


@case
def other_attribute_order(folder):
    """Attributes in another order, comments, and single quotes."""
    folder.crossing()
    folder.write("demand.rou.xml", "<?xml version='1.0'?><!-- <flow/> --><routes><!-- a > b -->"
                 "<flow to='cs' probability='0.2' from='nc' end='60' begin='0' id='f&#x65;'><!-- no stop --></flow>"
                 "<flow to='cw' period='4'\n\tfrom='ec' end='60' begin='0' id='g'/></routes><!-- the end -->")
    folder.routes_written.append("demand.rou.xml")
    folder.config()


# Programs of lights.

def program(folder, kind="static", name="other", greens=("GGrr", "rrGG"), yellow=True, more="", params=""):
    """XML of a program for the light c. Each green is stretched over the light's links."""
    links = folder.num_links()
    phases = ""
    for green in greens:
        state = "".join(green[i * len(green) // links] for i in range(links))
        phases += f'<phase duration="12" minDur="5" maxDur="20" {more} state="{state}"/>'
        if yellow:
            phases += f'<phase duration="3" state="{state.replace("G", "y").replace("g", "y")}"/>'
    return f'<tlLogic id="c" type="{kind}" programID="{name}" offset="3">{params}{phases}</tlLogic>'


def light(kind="static", options="", extra="", **settings):
    def write(folder):
        folder.crossing("traffic_light", lanes=2)
        folder.additional(program(folder, kind, **settings) + extra)
        folder.routes(flows(rate='probability="0.2"'))
        folder.config(options=options)
    return write


for kind in ("static", "actuated", "delay_based"):
    row(f"light_{kind}", light(kind), trains=kind == "actuated")
row("light_without_yellow", light(yellow=False))
row("light_off", light(options='<tls.all-off value="true"/>'))
row("light_program_off", light(extra='<WAUT id="w" refTime="0" startProg="other"><wautSwitch time="20" to="off"/>'
                               '</WAUT><wautJunction wautID="w" junctionID="c"/>'))
row("light_waut", light(extra='<WAUT id="w" refTime="0" startProg="0"><wautSwitch time="20" to="other"/>'
                        '<wautSwitch time="50" to="0"/></WAUT><wautJunction wautID="w" junctionID="c"/>'))
row("light_begins_switched_off", light(extra='<WAUT id="w" refTime="0" startProg="off"><wautSwitch time="20" '
                                       'to="other"/></WAUT><wautJunction wautID="w" junctionID="c"/>'))
row("light_constant", light(greens=("GGGG",), yellow=False))
row("light_swarm_of_letters", light(greens=("Ggsu", "urOo")))
row("light_changes_offset", light(extra='<tlLogic id="c" programID="0" offset="17"/>'))


@case
def light_three_programs(folder):
    folder.crossing("traffic_light")
    for name in ("morning", "noon", "night"):
        folder.additional(program(folder, name=name), f"{name}.add.xml")
    folder.routes(flows())
    folder.config()


@case
def light_with_next(folder):
    folder.crossing("traffic_light")
    folder.additional(program(folder, "actuated").replace("</tlLogic>", "").replace(
        "<phase ", '<phase next="2 0" ', 1) + "</tlLogic>")
    folder.routes(flows())
    folder.config()


@case
def light_on_a_ramp(folder):
    folder.convert('<node id="a" x="-200" y="0"/><node id="r" x="-150" y="-60"/>'
                   '<node id="l" x="-60" y="-20" type="traffic_light"/><node id="m" x="0" y="0"/>'
                   '<node id="z" x="200" y="0"/>',
                   '<edge id="am" from="a" to="m" priority="3"/><edge id="rl" from="r" to="l"/>'
                   '<edge id="lm" from="l" to="m" priority="1"/><edge id="mz" from="m" to="z" priority="3"/>')
    folder.additional('<tlLogic id="l" type="static" programID="meter" offset="0"><phase duration="2" state="G"/>'
                      '<phase duration="6" state="r"/></tlLogic>')
    folder.routes(flows(("am mz", "rl mz"), 'probability="0.3"'))
    folder.config()


@case
def light_nema(folder):
    folder.crossing("traffic_light", lanes=2)
    links = folder.num_links()
    phases = ""
    for i, number in enumerate("2468"):
        begin, end = i * links // 4, (i + 1) * links // 4
        state = "r" * begin + "G" * (end - begin) + "r" * (links - end)
        phases += (f'<phase duration="99" minDur="5" maxDur="20" vehext="2" yellow="3" red="2" name="{number}" '
                   f'state="{state}"/>')
    folder.additional('<tlLogic id="c" type="NEMA" programID="N" offset="0"><param key="ring1" value="0,2,0,4"/>'
                      '<param key="ring2" value="0,6,0,8"/><param key="barrierPhases" value="4,8"/>'
                      '<param key="barrier2Phases" value="2,6"/><param key="minRecall" value="2,6"/>'
                      f'<param key="total-cycle-length" value="60"/>{phases}</tlLogic>')
    folder.routes(flows())
    folder.config()


row("light_joined", crossing_with(flows(THROUGH + ("nc ce", "sc cw")), "traffic_light", node='tl="shared"'))
