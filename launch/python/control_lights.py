#!/usr/bin/env python3
"""Controls the traffic lights of a SUMO simulation with an exported policy, without the C++ program.

    python3 control_lights.py FOLDER SUMOCFG [--policy none] [--seed N] [--seconds N] [--backend torch|onnx]

FOLDER is a folder of traffic_export. Its policy must keep the programs of the lights (lights.advisor = "program") and
see each light alone (lights.encoder_layers = 0). The example computes the features of such a policy from SUMO's own
interface for Python, TraCI. It finds SUMO by the variable SUMO_HOME. At the end it prints the mean time that vehicles
have lost; with --policy none the lights run their programs, for comparison.
"""
import argparse
import contextlib
import os
import sys

if "SUMO_HOME" not in os.environ:
    sys.exit("control_lights.py: set SUMO_HOME to SUMO's folder, such as .deps/sumo/sumo")
sys.path.insert(0, os.path.join(os.environ["SUMO_HOME"], "tools"))
import traci  # noqa: E402
import traci.constants as tc  # noqa: E402

from traffic_policy import PolicyError, TrafficPolicy  # noqa: E402

TOLERANCE_S = 1e-6
REACH_M, ARRIVING_REACH_M, NEAR_M = 200.0, 400.0, 50.0
QUEUE_MPS, STANDING_MPS = 1.0, 0.1


def is_green(letter):
    return letter in "Gg"


def may_drive(letter):
    return letter in "GgsoO"


class Link:
    """The traffic before one link of a light."""

    def __init__(self, from_lane, to_lane):
        self.from_lane, self.to_lane = from_lane, to_lane
        self.clear()

    def clear(self):
        self.vehicles = self.queue = self.near = self.coming = self.arriving = self.held_next = 0
        self.wait_s = self.longest_wait_s = self.loss = 0.0
        self.queue_behind, self.room_behind = 0, 1.0


class Light:
    """A light that keeps its program: its phases, and the traffic before it."""

    def __init__(self, name, phase_range):
        self.name = name
        program = traci.trafficlight.getProgram(name)
        logic = next(one for one in traci.trafficlight.getAllProgramLogics(name) if one.programID == program)
        self.phases = logic.phases
        self.links = [Link(*link[0][:2]) if link else None for link in traci.trafficlight.getControlledLinks(name)]
        self.is_fixed = all(phase.maxDur <= phase.minDur for phase in self.phases)
        self.phase_range = phase_range
        self.phase, self.since_s, self.left_s = -1, 0.0, 0.0
        self.shown_s = []  # time at which each phase was shown last
        self.inside = 0

    def observe(self, time_s, before_s):
        phase = traci.trafficlight.getPhase(self.name)
        self.left_s = traci.trafficlight.getNextSwitch(self.name) - time_s
        if phase != self.phase:
            first = self.phase < 0
            self.since_s = time_s - max(0.0, self.phases[phase].duration - self.left_s) if first else before_s
            self.phase = phase
        if not self.shown_s:
            self.shown_s = [time_s] * len(self.phases)
        self.shown_s[phase] = time_s

    def next_green(self):
        """The first later phase in which a link gets green that has none now; None if there is none."""
        shown = self.phases[self.phase].state
        for step in range(1, len(self.phases)):
            later = (self.phase + step) % len(self.phases)
            state = self.phases[later].state
            if any(is_green(state[i]) and not is_green(shown[i]) for i in range(len(state))):
                return later
        return None

    def limits(self, time_s):
        """Shortest and longest time that the present phase may still last."""
        phase = self.phases[self.phase]
        shortest, longest = phase.minDur, phase.maxDur
        shows_green = any(map(is_green, phase.state)) and not any(letter in "yYuoO" for letter in phase.state)
        if self.is_fixed and shows_green and phase.duration >= 10.0:
            shortest, longest = (1 - self.phase_range) * phase.duration, (1 + self.phase_range) * phase.duration
        shown_s = time_s - self.since_s
        return max(shortest - shown_s, 0.0), max(longest - shown_s, 0.0) if longest > shortest else 0.0

    def options(self, time_s, advised):
        """The features of the two options: the present phase lasts until the next decision, or ends before."""
        present, following = self.phases[self.phase].state, self.next_green()
        links = [link for link in self.links if link is not None]
        green_now = sum(link.vehicles for i, link in enumerate(self.links) if link and is_green(present[i]))
        rows = []
        for number, phase in enumerate((self.phase, following)):
            state, is_present = self.phases[phase].state, number == 0
            chosen = [(i, link) for i, link in enumerate(self.links) if link and is_green(state[i])]
            occupied = [link for _, link in chosen if link.vehicles > 0]
            kept = sum(link.vehicles for i, link in chosen if is_green(present[i]))
            rows.append({
                "vehicles": sum(link.vehicles for _, link in chosen),
                "queue": sum(link.queue for _, link in chosen),
                "wait": sum(link.wait_s for _, link in chosen),
                "longest_wait": max((link.longest_wait_s for _, link in chosen), default=0.0),
                "loss": sum(link.loss for _, link in chosen),
                "near": sum(link.near for _, link in chosen),
                "coming": sum(link.coming for _, link in chosen),
                "queue_behind": sum(link.queue_behind for link in occupied),
                "room_behind": min((link.room_behind for link in occupied), default=1.0),
                "gains": sum(link.vehicles for i, link in chosen if not is_green(present[i])),
                "loses": green_now - kept,
                "yielding_queue": sum(link.queue for i, link in chosen if state[i] == "g"),
                "lanes": len({link.from_lane for _, link in chosen}),
                "is_present": float(is_present),
                "green_s": time_s - self.since_s if is_present else 0.0,
                "red_s": 0.0 if is_present else time_s - self.shown_s[phase],
                "light_vehicles": sum(link.vehicles for link in links),
                "light_queue": sum(link.queue for link in links),
                "light_loss": sum(link.loss for link in links),
                "inside": self.inside,
                "arriving": sum(link.arriving for _, link in chosen),
                "held_next": sum(link.held_next for _, link in chosen),
                "blocked": sum(link.vehicles for _, link in chosen if link.room_behind < 0.25),
                "left_s": self.left_s if is_present else 0.0,
                "longest_left_s": self.limits(time_s)[1] if is_present else 0.0,
                "advised": float(number == advised),
            })
        return rows


class Network:
    """Reads the traffic before all lights of the running simulation, once per step."""

    VARIABLES = (tc.VAR_SPEED, tc.VAR_LANE_ID, tc.VAR_LANEPOSITION, tc.VAR_LENGTH, tc.VAR_TIMELOSS, tc.VAR_NEXT_TLS)

    def __init__(self, phase_range):
        self.lights = {name: Light(name, phase_range) for name in traci.trafficlight.getIDList()}
        self.inner_lanes = {}  # internal lanes of the junctions of lights
        for name in self.lights:
            for link in traci.trafficlight.getControlledLinks(name):
                via = link[0][2] if link else ""
                while via and via not in self.inner_lanes:
                    self.inner_lanes[via] = name
                    onward = traci.lane.getLinks(via)
                    via = onward[0][4] if onward else ""
        self.stood_s, self.lost_s, self.time_s = {}, {}, traci.simulation.getTime()
        self.total_lost_s, self.departed = 0.0, 0

    def read(self):
        before_s, self.time_s = self.time_s, traci.simulation.getTime()
        step_s = traci.simulation.getDeltaT()
        for vehicle in traci.simulation.getDepartedIDList():
            traci.vehicle.subscribe(vehicle, self.VARIABLES)
            self.departed += 1
        vehicles = traci.vehicle.getAllSubscriptionResults()
        for light in self.lights.values():
            light.observe(self.time_s, before_s)
            light.inside = 0
            for link in filter(None, light.links):
                link.clear()
        on_lane = {}
        for name, one in vehicles.items():
            on_lane.setdefault(one[tc.VAR_LANE_ID], []).append(one)
            self._count(name, one, step_s)
        for light in self.lights.values():
            for link in filter(None, light.links):
                self._look_behind(link, on_lane.get(link.to_lane, []))

    def _count(self, name, one, step_s):
        speed = one[tc.VAR_SPEED]
        loss_s = one[tc.VAR_TIMELOSS] - self.lost_s.get(name, 0.0)
        self.lost_s[name] = one[tc.VAR_TIMELOSS]
        self.total_lost_s += loss_s
        self.stood_s[name] = self.stood_s.get(name, 0.0) + step_s if speed < STANDING_MPS else 0.0
        junction = self.inner_lanes.get(one[tc.VAR_LANE_ID])
        if junction and speed < QUEUE_MPS:
            self.lights[junction].inside += 1
        ahead = one[tc.VAR_NEXT_TLS]
        if not ahead:
            return
        light, number, distance_m, _ = ahead[0]
        link = self.lights[light].links[number]
        if distance_m > REACH_M:
            link.arriving += distance_m <= ARRIVING_REACH_M
            return
        link.vehicles += 1
        link.queue += speed < QUEUE_MPS
        link.near += distance_m <= NEAR_M
        link.coming += distance_m <= max(10.0, 3.0 * speed)
        link.wait_s += self.stood_s[name]
        link.longest_wait_s = max(link.longest_wait_s, self.stood_s[name])
        link.loss += loss_s / step_s
        if len(ahead) > 1 and ahead[1][2] <= ARRIVING_REACH_M:
            after, after_number, _, after_state = ahead[1]
            if may_drive(ahead[0][3]):
                self.lights[after].links[after_number].arriving += 1
            link.held_next += not may_drive(after_state)

    @staticmethod
    def _look_behind(link, vehicles):
        """Looks for slow vehicles on the lane behind the junction."""
        slow = [one for one in vehicles if one[tc.VAR_SPEED] < QUEUE_MPS and one[tc.VAR_LANEPOSITION] <= REACH_M]
        link.queue_behind = len(slow)
        rear_m = min((one[tc.VAR_LANEPOSITION] - one[tc.VAR_LENGTH] for one in slow), default=30.0)
        link.room_behind = min(max(rear_m / 30.0, 0.0), 1.0)


def control(network, policy, period_s):
    """Lets the policy decide for all lights that may end or prolong their phase now."""
    state, advised = [], {}
    for light in network.lights.values():
        shortest, longest = light.limits(network.time_s)
        if light.next_green() is None or shortest >= period_s or longest <= TOLERANCE_S:
            continue
        # The program keeps the phase (option 0) if it lasts until the next decision.
        advised[light.name] = 0 if light.left_s >= period_s - TOLERANCE_S else 1
        options = light.options(network.time_s, advised[light.name])
        state.append({"id": light.name, "may_switch": True, "options": options})
    decision = policy.decide_lights({"lights": state}) if state else {}
    for name, option in decision.items():
        if option == advised[name]:
            continue  # the program does this by itself
        shortest, longest = network.lights[name].limits(network.time_s)
        left_s = min(max(period_s if option == 0 else 0.0, shortest), max(shortest, longest))
        traci.trafficlight.setPhaseDuration(name, left_s)
    return {"time_s": network.time_s, "lights": state, "decision": decision}


def run(arguments, policy, on_decision=None):
    """Runs the simulation. Calls on_decision with the state and the decision of each control period.
    Returns the network, which has counted the vehicles and the time that they have lost."""
    sumo = os.path.join(os.environ["SUMO_HOME"], "bin", "sumo")
    with contextlib.redirect_stdout(None):  # traci prints how often it tries to connect
        traci.start([sumo, "-c", arguments.sumocfg, "--seed", str(arguments.seed), "--no-step-log", "--no-warnings"])
    table = policy.table["lights"] if policy else {"limits": {"phase_range": 0.0}, "control_period_s": 1.0}
    network = Network(table["limits"]["phase_range"])
    next_s = network.time_s
    end_s = traci.simulation.getEndTime()
    end_s = arguments.seconds if arguments.seconds > 0 else end_s if end_s > 0 else float("inf")
    network.read()
    while network.time_s < end_s - TOLERANCE_S and traci.simulation.getMinExpectedNumber() > 0:
        if policy and network.time_s >= next_s - TOLERANCE_S:
            made = control(network, policy, table["control_period_s"])
            if on_decision:
                on_decision(made)
            next_s += table["control_period_s"]
        traci.simulationStep()
        network.read()
    traci.close()
    return network


def main():
    parser = argparse.ArgumentParser(description="Controls the traffic lights of a SUMO simulation.")
    parser.add_argument("folder", help="folder of traffic_export")
    parser.add_argument("sumocfg", help="scenario of SUMO")
    parser.add_argument("--policy", choices=("exported", "none"), default="exported")
    parser.add_argument("--backend", choices=("torch", "onnx"))
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0, help="end of the simulation; default: that of the scenario")
    arguments = parser.parse_args()
    policy = None
    if arguments.policy == "exported":
        try:
            policy = TrafficPolicy(arguments.folder, arguments.backend)
        except (PolicyError, ImportError) as error:
            sys.exit(f"control_lights.py: {error}")
        lights = policy.table.get("lights")
        sees_alone = lights and all(one["name"] != "edge_features" for one in lights["inputs"])
        if not lights or not lights["keeps_programs"] or not sees_alone:
            sys.exit(
                "control_lights.py: the example needs a policy of traffic lights that was trained with "
                'lights.advisor = "program" and lights.encoder_layers = 0'
            )
    network = run(arguments, policy)
    mean_s = network.total_lost_s / max(1, network.departed)
    print(f"{network.departed} vehicles have lost {mean_s:.2f} s on average")
    return 0


if __name__ == "__main__":
    sys.exit(main())
