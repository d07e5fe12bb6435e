"""The table of odd scenarios. A case is one short function (@case) or one call of row()."""
from dataclasses import dataclass, field
from typing import Callable




@dataclass
class Case:
    name: str
    write: Callable  # writes the scenario: (Folder) -> None
    args: list = field(default_factory=list)  # SUMO's arguments, for env.sumo_args
    endless: bool = False  # SUMO itself does not end, so that it gets --end 60
    refused: str = ""  # text with which our programs refuse a scenario that SUMO runs; empty if they run it
    breaks: bool = False  # SUMO itself refuses the scenario
    empty: bool = False  # no vehicle departs
    examined: bool = False  # traffic_doctor also examines the scenario
    trains: bool = False  # traffic_train also makes a dry run with the scenario
    records: bool = False  # data_prep also records it, and verify must find no problem in the recordings
    loads_state: bool = False  # vehicles already drive at the begin, and our programs count only later losses
    discards: bool = False  # SUMO deletes vehicles that wait too long to enter
    is_random: bool = False  # it is unknown whether SUMO runs or refuses the scenario, and whether any vehicle departs


CASES = []


def case(write=None, **settings):
    """Decorator: adds a case whose name is that of the function, which writes the scenario."""
    def add(function):
        CASES.append(Case(function.__name__, function, **settings))
        return function
    return add(write) if write else add


def row(name, write, **settings):
    CASES.append(Case(name, write, **settings))


def crossing_with(demand, kind="priority", options="", end=80, additional="", **network):
    """A function that writes a crossing with this demand."""
    def write(folder):
        folder.crossing(kind, **network)
        folder.routes(demand)
        if additional:
            folder.additional(additional)
        folder.config(end, options)
    return write
