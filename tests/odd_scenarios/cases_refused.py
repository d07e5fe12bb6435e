"""Scenarios that SUMO refuses. Our programs must refuse them, too, and state SUMO's reason."""
from cases import crossing_with, row
from folder import flows

DEMAND = {
    "unknown_edge": '<trip id="t" depart="1" from="nowhere" to="cs"/>',
    "unknown_type": flows(rate='period="5" type="nobody"'),
    "no_connection": '<vehicle id="v" depart="1"><route edges="nc sc"/></vehicle>',
    "no_way": '<vType id="t" vClass="rail"/><trip id="t" type="t" depart="1" from="nc" to="nc"/>'
              '<vehicle id="v" depart="2" departLane="7"><route edges="nc cs"/></vehicle>',
    "depart_is_no_time": '<trip id="t" depart="soon" from="nc" to="cs"/>',
    "rate_is_no_number": '<flow id="f" begin="0" end="60" period="exp(x)" from="nc" to="cs"/>',
    "number_is_no_number": '<flow id="f" begin="0" end="60" number="many" from="nc" to="cs"/>',
    "twice_the_same_id": '<trip id="t" depart="1" from="nc" to="cs"/><trip id="t" depart="2" from="nc" to="cs"/>',
    "empty_route": '<vehicle id="v" depart="1"><route edges=""/></vehicle>',
    "no_xml": "<flow id=",
    "late_error": flows() + '<trip id="t" depart="40" from="nc" to="nowhere"/>',
    "type_scale_is_text": '<vType id="t" scale="big"/>' + flows(),
}
for name, text in DEMAND.items():
    row(f"refused_{name}", crossing_with(text), breaks=True)

ADDITIONAL = {
    "detector_elsewhere": '<e1Detector id="a" lane="nowhere_0" pos="30" period="20" file="e1.xml"/>',
}
for name, text in ADDITIONAL.items():
    row(f"refused_{name}", crossing_with(flows(), "traffic_light", additional=text), breaks=True)

OPTIONS = {
    "unknown_option": '<no-such-option value="1"/>',
    "begin_after_end": '<begin value="900"/>',
    "missing_state": '<load-state value="nothing.xml"/>',
    "wrong_algorithm": '<routing-algorithm value="guess"/>',
}
for name, options in OPTIONS.items():
    row(f"refused_{name}", crossing_with(flows(), options=options), breaks=True)


def damaged(change):
    def write(folder):
        folder.crossing()
        folder.routes(flows())
        folder.config()
        change(folder)
    return write


def without(name):
    return lambda folder: (folder.path / name).unlink()


def replaced(name, old, new):
    return lambda folder: (folder.path / name).write_text((folder.path / name).read_text().replace(old, new))


DAMAGES = {
    "no_net_file": without("net.net.xml"),
    "no_route_file": without("demand.rou.xml"),
    "link_to_itself": lambda folder: link_to_itself(folder),
    "name_too_long": replaced("case.sumocfg", "demand.rou.xml", "n" * 300),
    "net_cut": lambda folder: folder.write("net.net.xml", folder.net_text()[:3000]),
    "config_cut": lambda folder: folder.sumocfg.write_text(folder.sumocfg.read_text()[:70]),
    "config_names_no_net": replaced("case.sumocfg", '<net-file value="net.net.xml"/>', ""),
    "net_without_edge": replaced("net.net.xml", 'from="nc"', 'from="nobody"'),
    "gzip_is_cut": lambda folder: cut_gzip(folder),
}


def cut_gzip(folder):
    file = folder.write("demand.rou.xml.gz", f"<routes>{flows()}</routes>")
    file.write_bytes(file.read_bytes()[:60])
    folder.routes_written = [file.name]
    folder.config()


def link_to_itself(folder):
    (folder.path / "demand.rou.xml").unlink()
    (folder.path / "demand.rou.xml").symlink_to("demand.rou.xml")


for name, change in DAMAGES.items():
    row(f"refused_{name}", damaged(change), breaks=True)
