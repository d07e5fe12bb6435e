#!/usr/bin/env python3
"""Runs traffic_doctor, traffic_eval and dry runs of traffic_train on odd SUMO scenarios and compares them with SUMO.

Usage: odd_scenarios.py --bin build/release/bin --sumo .deps/sumo/sumo/bin [CASE...]
       odd_scenarios.py --bin ... --sumo ... --random 100 --seed 1 [--first 17]
"""
import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path, help="folder of our programs")
    parser.add_argument("--sumo", required=True, type=Path, help="folder of SUMO's programs")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random scenarios in place of the table")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random scenarios")
    parser.add_argument("--first", type=int, default=0, help="number of the first random scenario")
    parser.add_argument("--seconds", type=float, help="start no further scenario after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of scenarios that run at the same time")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the scenarios that fail in DIR")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and end")
    parser.add_argument("cases", nargs="*", help="names of the cases to run; by default all")
    return parser.parse_args()


def chosen_cases(arguments):
    import random_scenarios
    import table
    if arguments.random:
        numbers = range(arguments.first, arguments.first + arguments.random)
        return [random_scenarios.make_case(arguments.seed, number) for number in numbers]
    known = {case.name: case for case in table.CASES}
    assert len(known) == len(table.CASES), "two cases have the same name"
    unknown = [name for name in arguments.cases if name not in known]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}; --list prints all")
    return [known[name] for name in arguments.cases] or table.CASES


def run_case(case, arguments, deadline):
    """Checks one scenario. @return its problems, or None if the deadline had passed before it started"""
    from check import Check
    from folder import BuildError
    if deadline and time.monotonic() > deadline:
        return None
    with tempfile.TemporaryDirectory(prefix="odd_") as room:
        try:
            problems = Check(case, Path(room), arguments.bin, arguments.sumo).run()
        except BuildError as error:
            problems = [f"the scenario cannot be built: {error}"]
        except Exception:  # a defect of this test: report it like a problem of the scenario
            problems = [traceback.format_exc()]
        if problems and arguments.keep:
            kept = arguments.keep / case.name
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(room, kept, symlinks=True)
    return problems


def main():
    arguments = parse_arguments()
    arguments.bin = arguments.bin.resolve()
    arguments.sumo = arguments.sumo.resolve()
    networks = tempfile.TemporaryDirectory(prefix="odd_networks_")
    os.environ.update(ODD_SUMO=str(arguments.sumo), ODD_NETWORKS=networks.name, ODD_DEMAND="demand",
                      OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    os.environ.pop("SUMO_HOME", None)  # SUMO then validates no file against a schema, wherever the test runs
    cases = chosen_cases(arguments)
    if arguments.list:
        print("\n".join(case.name for case in cases))
        return 0
    deadline = time.monotonic() + arguments.seconds if arguments.seconds else None
    failed = num_run = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for case, problems in zip(cases, pool.map(lambda case: run_case(case, arguments, deadline), cases)):
            num_run += problems is not None
            failed += bool(problems)
            if problems:
                text = "\n".join("  " + problem.replace("\n", "\n    ") for problem in problems)
                print(f"FAILED {case.name}\n{text}", flush=True)
    if failed and arguments.random:
        print(f"to repeat number N: --random 1 --seed {arguments.seed} --first N")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{num_run} scenarios, {failed} failed, {used.ru_utime + used.ru_stime:.0f} s of processor time")
    return 1 if failed or num_run == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
