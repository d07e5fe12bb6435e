"""All cases: importing the modules fills the table."""
import cases_additional  # noqa: F401
import cases_demand  # noqa: F401
import cases_network  # noqa: F401
import cases_options  # noqa: F401
import cases_refused  # noqa: F401
from cases import CASES  # noqa: F401

# traffic_doctor reads a scenario by the same functions as traffic_eval and starts slowly, so only every tenth case runs
# it.
for case in CASES[::10]:
    case.examined = not case.breaks
