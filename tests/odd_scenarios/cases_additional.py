"""Cases about additional files."""
from cases import case, crossing_with, row
from folder import flows

ELEMENTS = {
    "detectors": '<e1Detector id="a" lane="nc_0" pos="30" period="20" file="e1.xml"/><inductionLoop id="b" lane="cs_0" '
                 'pos="30" period="20" file="e1.xml"/><instantInductionLoop id="i" lane="nc_0" pos="40" file="i.xml"/>'
                 '<laneAreaDetector id="c" lane="ec_0" pos="10" endPos="60" period="20" file="e2.xml"/>'
                 '<entryExitDetector id="d" period="20" file="e3.xml"><detEntry lane="wc_0" pos="20"/>'
                 '<detExit lane="ce_0" pos="50"/></entryExitDetector>',
    "variable_speed_sign": '<variableSpeedSign id="v" lanes="nc_0 wc_0"><step time="10" speed="4"/>'
                           '<step time="40" speed="14"/></variableSpeedSign>',
    "vaporizer": '<vaporizer id="cs" begin="10" end="50"/>',
    "calibrator": '<route id="w" edges="wc ce"/><calibrator id="c" edge="wc" pos="20" period="20" output="cal.xml">'
                  '<flow begin="0" end="60" route="w" vehsPerHour="1200" speed="10"/></calibrator>',
    "rerouter": '<rerouter id="r" edges="nc"><interval begin="0" end="60"><destProbReroute id="ce" probability="1"/>'
                '<destProbReroute id="cw" probability="1"/></interval></rerouter><rerouter id="s" edges="wc"><interval '
                'begin="10" end="60"><closingReroute id="ce"/></interval></rerouter>',
    "what_changes_nothing": '<taz id="z" edges="nc cn"/><taz id="y"><tazSource id="sc" weight="1"/></taz>'
                            '<poly id="p" type="house" color="1,0,0" fill="1" layer="-1" shape="0,0 9,0 9,9"/>'
                            '<poi id="q" x="5" y="5" type="tree"/><poi id="r" lane="nc_0" pos="9"/>'
                            '<edgeData id="a" file="edges.xml" period="30"/><laneData id="b" file="lanes.xml" '
                            'begin="5" end="50"/><edgeData id="c" type="emissions" file="NUL"/>'
                            '<timedEvent type="SaveTLSStates" source="c" dest="tls.xml"/>'
                            '<timedEvent type="SaveTLSProgram" source="c" dest="program.xml"/>',
}
for name, text in ELEMENTS.items():
    row(f"additional_{name}", crossing_with(flows(), "traffic_light", additional=text),
        trains=name == "calibrator")

row("calibrator_only", crossing_with("", additional=ELEMENTS["calibrator"]))
row("flow_in_additional", crossing_with("", additional=flows()))
row("electric_vehicles", crossing_with(
    '<vType id="e" emissionClass="MMPEVEM"><param key="has.battery.device" value="true"/></vType>'
    + flows(rate='period="9" type="e"', inside='<stop chargingStation="s" duration="5"/>', pairs=("nc cs",)),
    additional='<chargingStation id="s" lane="cs_0" startPos="20" endPos="80" power="20000"/>'))
row("full_parking", crossing_with(
    flows(("wc ce",), 'period="4"', inside='<stop parkingArea="p" duration="200"/>') + flows(("nc cs",), prefix="g"),
    additional='<parkingArea id="p" lane="ce_0" startPos="30" endPos="70" roadsideCapacity="1"/>'
               '<parkingArea id="q" lane="cs_0" startPos="30" endPos="70" roadsideCapacity="9"/>'
               '<rerouter id="r" edges="wc"><interval begin="0" end="90"><parkingAreaReroute id="q"/>'
               '<parkingAreaReroute id="p"/></interval></rerouter>', end=100))


@case
def included_files(folder):
    folder.crossing()
    folder.write("parts/types.xml", '<routes><vType id="t" maxSpeed="9"/></routes>')
    folder.write("parts/flows.xml", f'<routes>{flows(rate="period=" + chr(34) + "5" + chr(34))}</routes>')
    folder.routes('<include href="parts/types.xml"/><include href="parts/flows.xml"/>')
    folder.config()


@case
def several_files(folder):
    folder.crossing()
    folder.routes('<vType id="t" vClass="bus"/><route id="r" edges="nc cs"/>', "one.rou.xml")
    folder.routes('<flow id="a" type="t" route="r" begin="0" end="60" period="9"/>', "two.rou.xml")
    folder.routes(flows(), "three.rou.xml")
    folder.additional('<busStop id="b" lane="cs_0" startPos="40" endPos="80"/>', "a.add.xml")
    folder.additional('<poi id="q" x="5" y="5"/>', "b.add.xml")
    folder.config()
