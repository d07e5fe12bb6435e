"""Cases about elements of route files: vehicles, flows, types, stops, persons."""
from cases import case, crossing_with, row
from folder import THROUGH, flows

def flow(number, begin_and_end, rate):
    start, goal = THROUGH[number % 4].split()
    return f'<flow id="f{number}" {begin_and_end} {rate} from="{start}" to="{goal}"/>'


def several(*rates):
    return "".join(flow(i, 'begin="0" end="60"', rate) for i, rate in enumerate(rates))


row("flows_fixed", crossing_with(several('number="9"', 'period="7"', 'vehsPerHour="500"', 'perHour="500"')))
row("flows_random", crossing_with(several('probability="0.2"', 'period="exp(0.2)"')))
row("flow_fast", crossing_with(several('period="0.4" departLane="random"')))
row("flow_without_end", crossing_with(flow(0, 'begin="0"', 'period="5"')))
row("flow_times_in_words", crossing_with(flow(0, 'begin="0:00:10" end="0:01:00"', 'period="0:00:05"'), end="0:01:20"))

DEPARTS = ('departLane="free" departSpeed="max" departPos="random_free"', 'departLane="random" departSpeed="desired"',
           'departLane="allowed" departSpeed="random" departPos="last"', 'departLane="first" departPos="20"',
           'departLane="best" departSpeed="avg" departPos="base"', 'departLane="0" departSpeed="0" arrivalSpeed="1"',
           'departPos="stop" departSpeed="speedLimit" arrivalPos="random"', 'departPosLat="left" arrivalLane="current"',
           'departEdge="0" arrivalEdge="1" departLane="best_prob"', 'insertionChecks="none" departSpeed="last"')


@case
def depart_attributes(folder):
    folder.crossing(lanes=2)
    folder.routes("".join(
        f'<vehicle id="v{i}" depart="{3 * i}" {attributes}><route edges="{THROUGH[i % 4]}"/></vehicle>'
        for i, attributes in enumerate(DEPARTS)))
    folder.config()


row("departs_late", crossing_with(flows(end=20) + '<trip id="late" depart="500" from="nc" to="cs"/>'))
row("departs_unsorted", crossing_with('<trip id="b" depart="20" from="nc" to="cs"/>'
                                      '<trip id="a" depart="5" from="wc" to="ce"/>'))
# SUMO prints a warning or an error about these scenarios, but runs them.
row("class_unknown", crossing_with('<vType id="t" vClass="dragon"/>' + flows()))
row("stop_off_route", crossing_with(
    '<trip id="t" depart="1" from="nc" to="cs"><stop lane="ce_0" duration="3"/></trip>'))
row("include_of_nothing", crossing_with('<include href="nothing.xml"/>' + flows()), refused="cannot be opened")
row("no_demand", crossing_with(""), empty=True)


@case(trains=True)
def distributions(folder):
    folder.crossing(lanes=2)
    folder.routes('<vTypeDistribution id="mix"><vType id="car" probability="3" sigma="0.5"/><vType id="lorry" '
                  'vClass="truck" probability="1" length="12"/></vTypeDistribution>'
                  '<vType id="slow" maxSpeed="5" speedFactor="normc(0.9,0.1,0.5,1.1)"/><vTypeDistribution id="more" '
                  'vTypes="slow car" probabilities="0.3 0.7"/><routeDistribution id="ways"><route id="w1" '
                  'edges="nc cs" probability="0.5"/><route id="w2" edges="nc ce" probability="0.5"/>'
                  '</routeDistribution>'
                  '<flow id="a" type="mix" route="ways" begin="0" end="60" probability="0.3"/>'
                  '<flow id="b" type="more" begin="0" end="60" period="4"><routeDistribution><route edges="sc cn" '
                  'probability="1"/><route edges="sc cw" probability="1"/></routeDistribution></flow>')
    folder.config()


row("route_repeats", crossing_with('<route id="r" edges="nc cs"/><vehicle id="v" route="r" depart="0"/>'
                                   '<route id="loop" edges="cn nc" repeat="1"/>'
                                    '<vehicle id="w" route="loop" depart="3"/>'))
row("via_edges", crossing_with('<trip id="t" depart="1" from="nc" to="cw" via="ce ec"/>'
                               '<trip id="u" depart="2" from="sc" via="cn nc" to="ce"/>'))
row("from_junctions", crossing_with('<trip id="t" depart="1" fromJunction="n" toJunction="s"/><flow id="f" begin="0" '
                                    'end="60" period="6" fromJunction="e" toJunction="w"/>',
                                    options='<junction-taz value="true"/>'))
row("from_positions", crossing_with('<trip id="t" depart="1" fromXY="-1.6,100" toXY="100,-1.6"/>'))

STOPS = ('<busStop id="b" lane="cs_0" startPos="40" endPos="80"/><parkingArea id="p" lane="ce_0" startPos="30" '
         'endPos="70" roadsideCapacity="3"/><chargingStation id="c" lane="cn_0" startPos="20" endPos="60"/>'
         '<containerStop id="k" lane="cw_0" startPos="20" endPos="60"/>')
row("stops", crossing_with(
    flows(("nc cs",), 'period="15"', inside='<stop busStop="b" duration="10"/>', prefix="b")
    + flows(("wc ce",), 'period="10"', inside='<stop parkingArea="p" duration="12"/>', prefix="p")
    + flows(("sc cn",), 'period="20"', inside='<stop lane="cn_0" endPos="70" duration="8" parking="true"/>', prefix="l")
    + flows(("ec cw",), 'period="20"', inside='<stop edge="cw" endPos="50" until="40"/>', prefix="e")
    + flows(("sc cn",), 'period="25"', inside='<stop chargingStation="c" duration="8"/>', prefix="c"),
    additional=STOPS, end=120))
row("stop_beyond_end", crossing_with(
    '<trip id="t" depart="1" from="nc" to="cs"><stop lane="cs_0" duration="5000"/></trip>' + flows(end=30)))
row("stop_on_departure", crossing_with(
    '<vehicle id="t" depart="3" departPos="stop"><route edges="nc cs"/><stop lane="nc_0" endPos="60" duration="9"/>'
    '</vehicle>'))

PEOPLE = ('<person id="p0" depart="1"><walk from="nc" to="cs"/></person><person id="p1" depart="2"><ride from="wc" '
          'to="ce" lines="t0"/></person><trip id="t0" depart="triggered" from="wc" to="ce"/>'
          '<personFlow id="q" begin="0" end="30" period="9"><walk from="ec" to="cw"/><stop duration="5" lane="cw_0"/>'
          '</personFlow>')
row("people", crossing_with(PEOPLE + flows(), end=100))
row("people_by_trip", crossing_with(
    '<vType id="own" vClass="passenger"/><person id="p" depart="3"><personTrip from="nc" to="cs" modes="car"/></person>'
    + flows()))
row("containers", crossing_with(
    '<container id="k0" depart="1"><transport from="ec" to="cw" lines="v"/><tranship from="cw" to="cw"/></container>'
    '<vehicle id="v" depart="containerTriggered"><route edges="ec cw"/></vehicle>' + flows(), additional=STOPS))
row("stop_until_someone_comes", crossing_with(
    '<vehicle id="v" depart="0"><route edges="nc cs"/><stop lane="nc_0" endPos="80" triggered="person" expected="p"/>'
    '</vehicle><person id="p" depart="20" departPos="80"><ride from="nc" to="cs" lines="v"/></person>'
    '<vehicle id="w" depart="3"><route edges="wc ce"/><stop lane="ce_0" endPos="80" triggered="container" timeout="30" '
    'extension="5"/></vehicle>' + flows()))
row("bus_line", crossing_with(
    '<vType id="bus" vClass="bus"/><flow id="line" line="7" type="bus" begin="0" end="60" period="20" from="nc" '
    'to="cs"><stop busStop="b" duration="6"/></flow><person id="p" depart="5"><walk from="nc" to="nc" '
    'arrivalPos="50"/></person>',
    additional=STOPS))
row("taxis", crossing_with(
    '<vType id="taxi" vClass="taxi"><param key="has.taxi.device" value="true"/></vType><vehicle id="x" type="taxi" '
    'depart="0"><route edges="sc cn"/></vehicle><person id="p" depart="10"><ride from="wc" to="ce" lines="taxi"/>'
    '</person>' + flows(), end=100))
row("triggered_only", crossing_with(
    '<person id="p" depart="4"><walk from="nc" to="nc" arrivalPos="60"/><ride to="cs" lines="v"/></person>'
    '<trip id="v" depart="triggered" departPos="60" from="nc" to="cs"/>'))
row("jump_after_a_stop", crossing_with(
    '<vehicle id="j" depart="5"><route edges="nc cs wc ce"/><stop lane="cs_0" endPos="60" duration="5" jump="10"/>'
    '</vehicle>' + flows()), records=True)
row("split_after", crossing_with(
    '<vehicle id="a" depart="0"><route edges="nc cs"/><stop lane="cs_0" endPos="60" duration="5" split="b"/></vehicle>'
    '<vehicle id="b" depart="split"><route edges="cs"/></vehicle>'))
row("intervals", crossing_with(
    '<interval begin="10" end="50"><flow id="f" number="6" from="nc" to="cs"/><flow id="g" period="5" from="wc" '
    'to="ce"/></interval>'))
row("car_following_models", crossing_with("".join(
    f'<vType id="{name}" carFollowModel="{name}"/><flow id="f{name}" type="{name}" begin="0" end="60" period="17" '
    f'from="{pair.split()[0]}" to="{pair.split()[1]}"/>'
    for name, pair in zip(("IDM", "ACC", "CACC", "Wiedemann", "W99", "Krauss", "Rail", "EIDM"), THROUGH * 2)), end=100))
row("type_scale", crossing_with('<vType id="t" scale="2.5"/>' + flows(rate='period="5" type="t"')))
row("speed_per_driver", crossing_with('<vType id="t" speedDev="0.4" impatience="0.5" actionStepLength="2" '
                                      'jmIgnoreKeepClearTime="1"/>' + flows(rate='period="4" type="t"')))


@case
def turns_of_jtrrouter(folder):
    """Routes by jtrrouter from turn ratios."""
    from folder import run_tool
    folder.crossing()
    folder.write("turns.xml", '<turns><interval begin="0" end="60"><edgeRelation from="nc" to="cs" probability="70"/>'
                 '<edgeRelation from="nc" to="ce" probability="30"/></interval></turns>')
    folder.write("in.xml", '<routes><flow id="f" from="nc" begin="0" end="60" number="15"/></routes>')
    run_tool("jtrrouter", "-n", folder.path / folder.net_name, "-r", folder.path / "in.xml", "-t",
             folder.path / "turns.xml", "-o", folder.path / "demand.rou.xml", "--accept-all-destinations", "--seed", 2)
    (folder.path / "demand.rou.alt.xml").unlink(missing_ok=True)
    folder.routes_written.append("demand.rou.xml")
    folder.config()


@case(trains=True)
def trips_of_od2trips(folder):
    """Trips that od2trips makes between districts. They name the districts as their zones."""
    from folder import run_tool
    folder.crossing()
    folder.additional('<taz id="A"><tazSource id="nc" weight="1"/><tazSink id="cn" weight="1"/></taz>'
                      '<taz id="B" edges="sc cs"/>')
    folder.write("od.txt", "$O;D2\n0.00 0.02\n1.00\nA B 20\nB A 10\n")
    run_tool("od2trips", "-n", folder.path / "more.add.xml", "-d", folder.path / "od.txt", "-o",
             folder.path / "demand.rou.xml", "--seed", 3)
    folder.routes_written.append("demand.rou.xml")
    folder.config(120)
