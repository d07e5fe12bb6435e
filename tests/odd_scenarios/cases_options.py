"""Cases about options, names of files and encodings."""
from cases import case, crossing_with, row
from folder import flows

JAM = flows(rate='probability="0.6"') + ('<vehicle id="stands" depart="5"><route edges="nc cs"/><stop lane="cs_0" '
                                         'endPos="60" duration="100"/></vehicle>')
OPTIONS = {
    "step_tenth": '<step-length value="0.1"/>',
    "scale": '<scale value="1.7"/>',
    "sublane": '<lateral-resolution value="0.5"/>',
    "ballistic": '<step-method.ballistic value="true"/>',
    "remote_port": '<remote-port value="8813"/><num-clients value="2"/>',
    "verbose": '<verbose value="true"/><print-options value="true"/><duration-log.statistics value="true"/>',
    "synonyms": '<v value="true"/><W value="true"/><S value="5"/>',
    "threads": '<threads value="2"/>',
    "random": '<random value="true"/><seed value="42"/>',
    "sections": '<report><no-warnings value="true"/></report><time><step-length value="0.5"/></time>',
    "values_as_text": '<step-length>0.5</step-length>',
    "outputs": '<tripinfo-output value="t.xml"/><fcd-output value="f.xml"/><summary-output value="s.xml"/>'
               '<queue-output value="q.xml"/><vehroute-output value="v.xml"/><log value="log.txt"/>'
               '<collision-output value="c.xml"/><link-output value="l.xml"/>',
    "save_state": '<save-state.times value="10,20"/><save-state.prefix value="state"/>'
                  '<save-state.suffix value=".xml"/>',
    "rerouting_devices": '<device.rerouting.probability value="1"/><device.rerouting.period value="10"/>'
                         '<routing-algorithm value="CH"/><weights.random-factor value="1.5"/>',
    "other_devices": '<device.emissions.probability value="0.5"/><device.ssm.probability value="1"/>'
                     '<device.fcd.probability value="1"/>',
    "departs_at_random": '<random-depart-offset value="9"/><route-steps value="3"/>',
    "eager_insert": '<eager-insert value="true"/><extrapolate-departpos value="true"/>',
    "drivers": '<default.action-step-length value="1.0"/><default.speeddev value="0.3"/>'
               '<lanechange.duration value="3"/>',
    "max_vehicles": '<max-num-vehicles value="5"/>',
    "without_effect": '<quit-on-end value="true"/><start value="true"/><gui-settings-file value=""/>'
                      '<mesosim value="false"/><human-readable-time value="true"/>'
                      '<xml-validation value="never"/><xml-validation.net value="never"/>',
    # SUMO prints a warning or an error about these values, but runs the scenario.
    "values_are_wrong": '<verbose value="perhaps"/><collision.action value="explode"/>',
}
for name, options in OPTIONS.items():
    row(f"option_{name}", crossing_with(flows(rate='probability="0.2"'), options=options, lanes=2),
        trains=name in ("step_tenth", "remote_port", "outputs"))
JAMS = {
    "never": '<time-to-teleport value="-1"/><max-depart-delay value="-1"/>',
    "soon": '<time-to-teleport value="10"/>',
    "remove": '<time-to-teleport value="10"/><time-to-teleport.remove value="true"/>',
    "other_kinds": '<time-to-teleport.highways value="10"/><time-to-teleport.disconnected value="1"/>'
                   '<ignore-junction-blocker value="3"/>',
}
for name, options in JAMS.items():
    row(f"teleport_{name}", crossing_with(JAM, options=options, end=120), records=name == "soon")
row("max_depart_delay", crossing_with(flows(rate='period="1"'), options='<max-depart-delay value="5"/>'), discards=True)
row("keep_after_arrival", crossing_with(flows(), options='<keep-after-arrival value="30"/>'))

row("no_end", crossing_with(flows(end=60), end=None), trains=True)
row("end_below_zero", crossing_with(flows(end=60), end=-1))
row("no_end_at_all", crossing_with('<flow id="f" begin="0" period="4" from="nc" to="cs"/>', end=None),
    refused="has no end", endless=True)
row("begin_offset", crossing_with(flows(begin=3600, end=3660), options='<begin value="3600"/>', end=3680), trains=True)
row("begin_fraction", crossing_with(flows(), options='<begin value="10.5"/><step-length value="0.5"/>', end=70.5))
row("mesosim", crossing_with(flows(), options='<mesosim value="true"/>'), refused="mesoscopically")
row("arguments", crossing_with(flows()), args=["--step-length", "0.5", "--scale", "1.5", "--no-internal-links"])


@case
def collisions_removed(folder):
    folder.crossing("unregulated", lanes=2)
    folder.routes('<vType id="blind" sigma="0" tau="0.1" minGap="0" apparentDecel="0.2" actionStepLength="5" '
                  'jmIgnoreFoeProb="1" jmIgnoreFoeSpeed="99"/>'
                  + flows(rate='period="3" type="blind" departSpeed="max"'))
    folder.config(options='<collision.action value="remove"/><collision.check-junctions value="true"/>')


for action in ("teleport", "none"):
    def colliding(folder, action=action):
        collisions_removed(folder)
        folder.config(options=f'<collision.action value="{action}"/><collision.check-junctions value="true"/>'
                      '<collision.stoptime value="5"/>')
    row(f"collisions_{action}", colliding)


@case
def route_errors_ignored(folder):
    folder.crossing("priority", "--no-turnarounds")
    folder.routes('<trip id="bad" depart="3" from="cs" to="nc"/><vehicle id="gap" depart="4"><route edges="cs nc"/>'
                  '</vehicle>' + flows())
    folder.config(options='<ignore-route-errors value="true"/>')


@case
def names_from_the_environment(folder):
    folder.crossing()
    folder.routes(flows(), "demand.rou.xml")
    folder.routes_written = ["${ODD_DEMAND}.rou.xml"]
    folder.config()


@case
def names_on_several_lines(folder):
    folder.crossing()
    folder.routes(flows(("nc cs",), prefix="a"), "a.rou.xml")
    folder.routes(flows(("wc ce",), prefix="b"), "b.rou.xml")
    folder.routes_written = ["a.rou.xml,\n      b.rou.xml"]
    folder.config()


@case
def names_of_options_are_short(folder):
    folder.crossing()
    folder.routes(flows())
    folder.sumocfg.write_text('<configuration><n value="net.net.xml"/><r value="demand.rou.xml"/><b value="0"/>'
                              '<e value="0:01:20"/></configuration>', encoding="utf-8")


@case
def links_to_files(folder):
    folder.crossing()
    folder.routes(flows())
    folder.config()
    links = folder.path / "links"
    links.mkdir()
    for name in ("net.net.xml", "demand.rou.xml", "case.sumocfg"):
        (links / name).symlink_to(f"../{name}")
    folder.sumocfg = links / "case.sumocfg"


@case(trains=True)
def names_with_spaces(folder):
    folder.net_name = "my net.net.xml"
    folder.sumocfg = folder.path / "my scenario.sumocfg"
    folder.crossing()
    folder.routes(flows(("nc cs",), prefix="a"), "the demand.rou.xml")
    folder.routes(flows(("wc ce",), prefix="b"), "more demand.rou.xml")
    folder.additional('<poi id="q" x="5" y="5"/>', "a b/c d.add.xml")
    folder.config()


@case(trains=True)
def names_not_ascii(folder):
    folder.net_name = "straßennetz-été.net.xml"
    folder.sumocfg = folder.path / "交通" / "модель.sumocfg"
    folder.sumocfg.parent.mkdir()
    folder.crossing()
    folder.routes('<vType id="größer" length="7"/>' + flows(rate='period="5" type="größer"', prefix="fluß"),
                  "nachfrage-ü.rou.xml")
    folder.net_name = "../" + folder.net_name
    folder.routes_written = ["../nachfrage-ü.rou.xml"]
    folder.config()


@case
def names_with_odd_letters(folder):
    """File names with letters that have a special meaning in URLs, shells, lists and format strings."""
    folder.net_name = "net#1 {x} 100%25.net.xml"
    folder.crossing()
    folder.net_name = "net#1 {x} 100%2525.net.xml"  # SUMO decodes %25 in names to %
    folder.routes(flows(), "demand's $HOME and 'co'.rou.xml")
    folder.config()


@case
def names_absolute(folder):
    folder.crossing()
    folder.routes(flows())
    folder.net_name = str(folder.path / folder.net_name)
    folder.routes_written = [str(folder.path / "demand.rou.xml")]
    folder.config()


@case
def names_relative_upwards(folder):
    folder.crossing()
    folder.routes(flows())
    folder.routes_written = ["./../demand.rou.xml"]
    folder.sumocfg = folder.path / "sub" / "case.sumocfg"
    folder.sumocfg.parent.mkdir()
    folder.net_name = "./..//net.net.xml"
    folder.config()


@case(trains=True)
def compressed(folder):
    folder.net_name = "net.net.xml.gz"
    folder.crossing("traffic_light")
    folder.routes(flows(), "demand.rou.xml.gz")
    folder.additional('<poi id="q" x="5" y="5"/>', "more.add.xml.gz")
    folder.config()


@case
def lists_with_blanks(folder):
    folder.crossing()
    folder.routes(flows(("nc cs",), prefix="a"), "a.rou.xml")
    folder.routes(flows(("wc ce",), prefix="b"), "b.rou.xml")
    folder.routes_written = [" a.rou.xml ", " b.rou.xml"]
    folder.config()


@case
def byte_order_mark(folder):
    folder.crossing()
    folder.routes(flows())
    folder.config()
    for name in ("case.sumocfg", "demand.rou.xml"):
        text = (folder.path / name).read_text()
        (folder.path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())


@case
def latin_1(folder):
    folder.crossing()
    text = f'<?xml version="1.0" encoding="ISO-8859-1"?><routes>{flows(prefix="straße")}</routes>'
    (folder.path / "demand.rou.xml").write_bytes(text.encode("latin-1"))
    folder.routes_written.append("demand.rou.xml")
    folder.config()


@case
def utf_16(folder):
    folder.crossing()
    text = f'<?xml version="1.0" encoding="UTF-16"?><routes>{flows(prefix="straße")}</routes>'
    (folder.path / "demand.rou.xml").write_bytes(text.encode("utf-16"))
    folder.routes_written.append("demand.rou.xml")
    folder.config()


@case(breaks=True)
def entities(folder):
    """A route file that defines an XML entity. SUMO does not support such entities."""
    folder.crossing()
    text = '<!DOCTYPE routes [<!ENTITY goal "cs">]><routes><flow id="f" begin="0" end="60" period="5" from="nc" ' \
           'to="&goal;"/></routes>'
    folder.write("demand.rou.xml", text)
    folder.routes_written.append("demand.rou.xml")
    folder.config()


@case(loads_state=True)
def loads_state(folder):
    from folder import run_tool
    folder.crossing()
    folder.routes(flows())
    folder.config()
    run_tool("sumo", "-c", folder.sumocfg, "--save-state.times", 30, "--save-state.files", folder.path / "state.xml",
             "--end", 31, "--no-step-log")
    folder.config(options='<load-state value="state.xml"/>', begin=30)


@case
def other_root_elements(folder):
    folder.crossing()
    folder.write("demand.rou.xml", f"<additional>{flows()}</additional>")
    folder.routes_written.append("demand.rou.xml")
    folder.config()
    folder.sumocfg.write_text(folder.sumocfg.read_text().replace("configuration>", "sumoConfiguration>"))
