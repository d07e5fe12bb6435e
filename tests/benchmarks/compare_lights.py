#!/usr/bin/env python3
"""Compares our traffic lights with those of a peer, sumo-rl with Stable-Baselines3's PPO. Whole programs run in turns on
the same networks, demand and seeds.

  tests/benchmarks/compare_lights.py --install-peer        # once: the peer's venv, from PyPI (2 GB, mostly torch)
  tests/benchmarks/compare_lights.py [--networks one_light lights_grid] [--parts rates delay python] [--rounds 3]

The network `one_light` has four arms and four greens; netgenerate builds it in --folder. On it the peer is
SumoEnvironment(single_agent=True), which observes the queues on whole lanes. On `lights_grid`, with nine lights, the
peer is one policy for all lights through pettingzoo and supersuit, as in sumo-rl's example sb3_grid4x4.py. Both sides
decide every 5 s, with 3 s of yellow, a minimum green of 5 s, no teleports, and episodes of 900 s.

--parts rates measures decisions (5 s of simulated time, all lights) per second of processor time, summed over all
processes of a side. The time includes loading the network in every episode, but not the start of the programs. The
rates are measured without learning (peer: random greens; ours: an untrained policy, inference included) and with PPO.
Our policy starts near the script `greedy`, so its queues are shorter, which makes the simulation faster. Each side is
therefore compared with SUMO alone: the sumo binary replays the recorded lights of this side without learning. The two
sides are compared by their shares of the rate of SUMO alone.

--parts delay measures time loss plus departure delay per vehicle, including vehicles that never enter, on seeds that
nothing was trained on. The peer trains for the same simulated time as ours (our selection included), and for the same
processor time (whole programs). The peer's delay is computed from tripinfo; the script checks this computation with the
networks' own signal programs. Both sides train at the scenario's demand and on random seeds.

--parts python measures the same rates in Python, with and without PPO of Stable-Baselines3, once in sumo-rl's
environments (libsumo) and once in those of launch/python/traffic_env.py. Both run in the peer's interpreter, choose
greens at random or learn with the same PPO, and observe as they do by default. The time includes loading the network in
every episode, but not opening the environment.

The peer uses the settings of sumo-rl's examples (`example`), or those of our training that exist in both PPO
implementations (`ours`), without per-step metrics unless a row says otherwise. If the peer is not installed, a message
says so and its rows are left out. The script measures processor time, because machines are shared. Results are medians;
compare only ratios from one call.
"""
import argparse, json, os, random, resource, statistics, subprocess, sys, tempfile, venv
import xml.etree.ElementTree as xml
from pathlib import Path

from whole_programs import ROOT, environment, output_of, program, train

SUMO_HOME = ROOT / ".deps/sumo/sumo"
PACKAGES = ["torch==2.15.0", "sumo-rl==1.4.5", "stable-baselines3==2.9.2", "supersuit==3.11.0", "pettingzoo==1.24.3",
            "libsumo==1.28.0", "traci==1.28.0", "sumolib==1.28.0"]
EPISODE_S, PERIOD_S, YELLOW_S, MIN_GREEN_S = 900, 5, 3, 5
DECISIONS = EPISODE_S // PERIOD_S
SUMO_ARGS = ["--collision.action", "warn", "--collision.mingap-factor", "0"]
EPISODES, EVAL_EPISODES, EVAL_INTERVAL = 3, 6, 10  # our training: per iteration, per selection, iterations between selections
SAME_EPISODES = {"env.scenarios": "[]", "episodes.train_batch_size": EPISODES * DECISIONS, "training.eval_episodes": EVAL_EPISODES,
                 "training.eval_interval": EVAL_INTERVAL, "episodes.demand": "[1.0, 1.0]", "env.max_time_s": EPISODE_S, "env.yellow_s": YELLOW_S,
                 "env.min_green_s": MIN_GREEN_S, "env.all_red_s": 0, "rollout.workers": 1, "run.threads_per_rank": 1,
                 "log.tensorboard": "false", "evaluation.seeds": '""'}


# The networks.

ARMS = {"left": (700, {"right": 0.6, "top": 0.25, "bottom": 0.15}), "right": (550, {"left": 0.65, "bottom": 0.2, "top": 0.15}),
        "top": (400, {"bottom": 0.55, "left": 0.25, "right": 0.2}), "bottom": (300, {"top": 0.6, "right": 0.25, "left": 0.15})}
DRIFT = {"left": (1.2, 0.8, 1.0), "right": (0.9, 1.2, 0.9), "top": (0.8, 1.3, 0.9), "bottom": (1.1, 0.7, 1.2)}  # factors of the demand, each for five minutes


def one_light(folder):
    """Returns the path of its .sumocfg."""
    cfg = folder / "one_light.sumocfg"
    if cfg.exists():
        return cfg
    subprocess.run([str(SUMO_HOME / "bin/netgenerate"), "--grid", "--grid.number", "1", "--grid.attach-length", "200", "--turn-lanes", "1",
                    "--turn-lanes.length", "180", "--default.lanenumber", "2", "--default-junction-type", "traffic_light",
                    "--no-turnarounds", "true", "--no-warnings", "true", "-o", str(folder / "one_light.net.xml")],
                   check=True, env=environment(SUMO_HOME=str(SUMO_HOME)), stdout=subprocess.DEVNULL)
    flows = [f'<flow id="{arm}_{to}_{part}" from="{arm}0A0" to="A0{to}0" begin="{300 * part}" end="{300 * part + 300}" '
             f'period="exp({per_hour * share * DRIFT[arm][part] / 3600:.5f})" departLane="best" departSpeed="max"/>'
             for part in range(3) for arm, (per_hour, shares) in ARMS.items() for to, share in shares.items()]
    (folder / "one_light.rou.xml").write_text("<routes>\n" + "\n".join(flows) + "\n</routes>\n")
    cfg.write_text('<configuration><input><net-file value="one_light.net.xml"/><route-files value="one_light.rou.xml"/></input>'
                   f'<time><begin value="0"/><end value="{EPISODE_S}"/></time><processing><time-to-teleport value="-1"/>'
                   '<collision.action value="warn"/><collision.mingap-factor value="0"/></processing></configuration>\n')
    return cfg


def network(name, folder):
    """Returns the path of its .sumocfg."""
    return one_light(folder) if name == "one_light" else ROOT / f"configs/scenarios/{name}/{name}.sumocfg"


# Programs and their processor time.

def cpu_of(action):
    """Returns (processor time of the processes that the action started, result of the action)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def run(command, **more):
    return output_of(command, env=environment(SUMO_HOME=str(SUMO_HOME), **more))


def sumo(cfg, seed, more=()):
    run([SUMO_HOME / "bin/sumo", "-c", cfg, "--end", EPISODE_S, "--seed", seed, "--no-step-log", "--duration-log.disable",
         "--no-warnings", *more])


def evaluate(cfg, controllers, seeds, settings=()):
    """Returns a dictionary from controller to delay in s."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        line = [program("traffic_eval"), "--scenario", cfg, "--seeds", ",".join(map(str, seeds)), "--jobs", 1, "--json", out.name,
                "--set", "env.objective=delay", "--set", f"env.max_time_s={EPISODE_S}", "--set", f"env.yellow_s={YELLOW_S}",
                "--set", f"env.min_green_s={MIN_GREEN_S}", "--set", f"env.control_period_s={PERIOD_S}", *settings]
        for controller in controllers:
            line += ["--controller", controller]
        run(line)
        return {row["controller"]: row["delay_s"] for row in json.load(open(out.name))["controllers"]}


def train_ours(cfg, settings, folder):
    """Returns (checkpoint, summary)."""
    runs = Path(tempfile.mkdtemp(dir=folder))
    _, summary = train("signals.toml", 1, {**SAME_EPISODES, "env.scenario": f'"{cfg}"', **settings}, runs)
    found = sorted(runs.glob("*/checkpoints/best.h5")) or sorted(runs.glob("*/checkpoints/*.h5"))
    return found[-1], summary


def peer(args, order, use_libsumo=True):
    """Runs this file with the peer's interpreter; see the functions peer_* below."""
    more = {"LIBSUMO_AS_TRACI": "1"} if use_libsumo else {}
    out = run([args.peer_python, __file__, "--as-peer", json.dumps(order)], PYTHONWARNINGS="ignore", CUDA_VISIBLE_DEVICES="", **more)
    return json.loads(out.splitlines()[-1])


# Recording and replaying the lights of a run in SUMO.

def recorder(folder, name):
    """Returns (additional file that makes SUMO record the states of its lights, path of the recording)."""
    ids = [light.get("id") for light in xml.parse(folder["net"]).getroot().iter("tlLogic")]
    states = folder["scratch"] / f"{name}.states.xml"
    file = folder["scratch"] / f"{name}.record.xml"
    events = [f'<timedEvent type="SaveTLSStates" source="{light}" dest="{states}"/>' for light in ids]
    file.write_text("\n".join(["<additional>", *events, "</additional>"]))
    return file, states


def as_programs(states):
    """Returns an additional file in which recorded states are fixed-time programs."""
    shown = {}
    for row in xml.parse(states).getroot().iter("tlsState"):
        shown.setdefault(row.get("id"), []).append(row.get("state"))
    lines = ["<additional>"]
    for light, by_second in shown.items():
        lines.append(f'<tlLogic id="{light}" programID="replayed" type="static" offset="0">')
        begin = 0
        for second in range(1, len(by_second) + 1):
            if second == len(by_second) or by_second[second] != by_second[begin]:
                lines.append(f'<phase duration="{second - begin}" state="{by_second[begin]}"/>')
                begin = second
        lines.append("</tlLogic>")
    file = states.with_suffix(".programs.xml")
    file.write_text("\n".join(lines + ["</additional>"]))
    return file


# The measurement of --parts rates.

def rates(args, name, cfg, scratch):
    net = cfg.with_suffix(".net.xml")
    place = {"net": net, "scratch": scratch}
    seeds = list(range(300, 301 + args.episodes))
    steps = DECISIONS * args.episodes
    order = {"net": str(net), "routes": str(cfg.with_suffix(".rou.xml")), "single": name == "one_light", "seeds": seeds[1:]}
    quiet = {"training.eval_interval": 1000, "training.eval_episodes": 1}
    untrained, _ = train_ours(cfg, {**quiet, "training.iterations": 1, "ppo.num_epochs": 1, "ppo.learning_rate": 1e-9,
                                    "ppo.final_learning_rate": 1e-9}, scratch)
    by_chance = [f"checkpoint:{untrained},sampled"]

    def replayed(kind, record):
        """Files with fixed-time programs, one per seed. `record(seed, additional file)` runs the episode to record."""
        files = []
        for seed in seeds[1:]:
            file, states = recorder(place, f"{kind}{seed}")
            record(seed, file)
            files.append(as_programs(states))
        return files

    programs = {"ours": replayed("ours", lambda seed, file: evaluate(
        cfg, by_chance, [seed], ["--set", f"env.sumo_args={json.dumps(['--additional-files', str(file)])}"]))}
    if args.peer_python:
        programs["peer"] = replayed("peer", lambda seed, file: peer(
            args, {**order, "do": "random", "seeds": [seed], "sumo_args": ["--additional-files", str(file)]}))

    def alone(files):
        start, _ = cpu_of(lambda: [run([SUMO_HOME / "bin/sumo", "--version"]) for _ in files])
        full, _ = cpu_of(lambda: [sumo(cfg, seed, ["--additional-files", file]) for seed, file in zip(seeds[1:], files)])
        return steps / (full - start)

    def ours_by_chance():
        start, _ = cpu_of(lambda: evaluate(cfg, by_chance, seeds[:1]))
        full, _ = cpu_of(lambda: evaluate(cfg, by_chance, seeds))
        return steps / (full - start)

    def ours_learning():
        start, _ = cpu_of(lambda: train_ours(cfg, {**quiet, "training.iterations": 1}, scratch))
        full, _ = cpu_of(lambda: train_ours(cfg, {**quiet, "training.iterations": 1 + args.iterations}, scratch))
        return EPISODES * DECISIONS * args.iterations / (full - start)

    def peer_rate(use_libsumo=True, **more):
        return lambda: (lambda r: r["decisions"] / r["cpu_s"])(peer(args, {**order, "do": "random", **more}, use_libsumo))

    ways = {("ours", "SUMO alone"): lambda: alone(programs["ours"]), ("ours", "untrained policy"): ours_by_chance,
            ("ours", "PPO"): ours_learning}
    if args.peer_python:
        learn = {"do": "learn", "decisions": EPISODES * DECISIONS * args.iterations}
        ways |= {("peer", "SUMO alone"): lambda: alone(programs["peer"]), ("peer", "random, libsumo"): peer_rate(),
                 ("peer", "random, libsumo, with its metrics"): peer_rate(info=True), ("peer", "random, TraCI"): peer_rate(False),
                 ("peer", "PPO `example`, libsumo"): peer_rate(**learn, settings="example"),
                 ("peer", "PPO `ours`, libsumo"): peer_rate(**learn, settings="ours"),
                 ("peer", "PPO `example`, TraCI"): peer_rate(False, **learn, settings="example")}
    ways = {way: measure for way, measure in ways.items() if not any(word in way[1] for word in args.without)}
    found = {way: [] for way in ways}
    for number in range(args.rounds):
        for way, measure in ways.items():
            found[way].append(measure())
            print(f"round {number + 1}: {way}: {found[way][-1]:.0f}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    shares = {way: [a / b for a, b in zip(values, found[way[0], "SUMO alone"])] for way, values in found.items()}
    print(f"\n| {name} | | decisions/s | range | share of SUMO alone | our share / this share |\n| --- | --- | --- | --- | --- | --- |")
    for way, values in found.items():
        mine = shares["ours", "PPO" if way[1].startswith("PPO") else "untrained policy"]
        times = statistics.median(a / b for a, b in zip(mine, shares[way]))
        beside = way[1] != "SUMO alone"
        print(f"| {way[0]} | {way[1]} | {statistics.median(values):,.0f} | {min(values):,.0f}-{max(values):,.0f} | "
              f"{f'{100 * statistics.median(shares[way]):.0f} %' if beside else ''} | "
              f"{f'{times:.1f}' if beside and way[0] == 'peer' else ''} |", flush=True)


# The measurement of --parts python.

def python_rates(args, name, cfg, scratch):
    if not args.peer_python:
        return print("--parts python needs the peer's interpreter")
    order = {"net": str(cfg.with_suffix(".net.xml")), "routes": str(cfg.with_suffix(".rou.xml")), "cfg": str(cfg), "settings": "ours",
             "single": name == "one_light", "seeds": list(range(300, 300 + args.episodes)), "decisions": EPISODES * DECISIONS * args.iterations}
    found = {}
    for number in range(args.rounds):
        for what in ("random", "learn"):
            for who, do in (("sumo-rl", what), ("ours", f"our_{what}")):
                result = peer(args, {**order, "do": do})
                found.setdefault((what, who), []).append(result["decisions"] / result["cpu_s"])
                print(f"round {number + 1}: {what}, {who}: {found[what, who][-1]:.0f}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    print(f"\n| {name}, in Python | sumo-rl, decisions/s | traffic_env.py, decisions/s | ratio | range |\n| --- | --- | --- | --- | --- |")
    for what, title in (("random", "greens at random"), ("learn", "PPO of Stable-Baselines3")):
        ratios = [a / b for a, b in zip(found[what, "ours"], found[what, "sumo-rl"])]
        print(f"| {title} | {statistics.median(found[what, 'sumo-rl']):,.0f} | {statistics.median(found[what, 'ours']):,.0f} | "
              f"{statistics.median(ratios):.2f} | {min(ratios):.2f}-{max(ratios):.2f} |", flush=True)


# The measurement of --parts delay.

def tripinfo_delay(file):
    """Like traffic_eval: seconds lost on the road and before entering, per vehicle that has or would have departed."""
    lost, vehicles = 0.0, 0
    for trip in xml.parse(file).getroot().iter("tripinfo"):
        vehicles += 1
        # Whole steps, like the program: the remainder is the time between a departure and the next step, which no
        # controller can save.
        lost += max(0, int(float(trip.get("departDelay")))) + max(0.0, float(trip.get("timeLoss")))
    return lost / max(1, vehicles)


TRIPS = ["--tripinfo-output.write-unfinished", "--tripinfo-output.write-undeparted", "--tripinfo-output"]


def delay(args, name, cfg, scratch):
    seeds = list(range(200, 200 + args.eval_seeds))
    trips = scratch / "trips.xml"
    checked = []
    for seed in seeds:
        sumo(cfg, seed, [*TRIPS, trips])
        checked.append(tripinfo_delay(trips))
    order = {"net": str(cfg.with_suffix(".net.xml")), "routes": str(cfg.with_suffix(".rou.xml")), "single": name == "one_light"}
    rows, scripts = [], {}
    for training_seed in range(1, 1 + args.training_seeds):
        training = {"run.seed": training_seed, "training.iterations": args.training}
        cpu_s, (checkpoint, summary) = cpu_of(lambda: train_ours(cfg, training, scratch))
        selections = args.training // EVAL_INTERVAL + 3  # evaluations during our training, before it and after it
        decisions = DECISIONS * (EPISODES * args.training + EVAL_EPISODES * selections)
        scripts = evaluate(cfg, ["none", "greedy", "max_pressure", f"checkpoint:{checkpoint}"], seeds)
        rows.append(("ours", training_seed, decisions, cpu_s, scripts.pop(f"checkpoint:{checkpoint}")))
        print(rows[-1], summary["result"], file=sys.stderr, flush=True)
        for settings in args.peer_settings if args.peer_python else ():
            marks = peer(args, {**order, "do": "learn", "settings": settings, "training_seed": training_seed, "decisions": decisions,
                                "cpu_s": cpu_s, "save": str(scratch / "peer")})
            for mark in marks["marks"]:
                written = [*TRIPS, f"{scratch}/SEED.xml"]
                for seed in seeds:  # removes files of an earlier evaluation
                    (scratch / f"{seed}.xml").unlink(missing_ok=True)
                peer(args, {**order, "do": "evaluate", "model": mark["model"], "seeds": seeds, "sumo_args": written})
                found = statistics.mean(tripinfo_delay(scratch / f"{seed}.xml") for seed in seeds)
                who = f"peer `{settings}`, {mark['what']}"
                rows.append((who, training_seed, mark["decisions"], mark["cpu_s"], found))
                print(rows[-1], file=sys.stderr, flush=True)
    print(f"\n| {name} | training seed | decisions trained | processor time, s | delay, s |\n| --- | --- | --- | --- | --- |")
    print(f"| own program | | | | {scripts['none']:.1f} (by tripinfo {statistics.mean(checked):.1f}) |")
    for script in ("greedy", "max_pressure"):
        print(f"| {script} | | | | {scripts[script]:.1f} |")
    for who, training_seed, decisions, cpu_s, found in rows:
        print(f"| {who} | {training_seed} | {decisions:,} | {cpu_s:.0f} | {found:.1f} |")
    sys.stdout.flush()


# Functions that run in the peer's interpreter.

def cpu_here():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def peer_arguments(order, env_module):
    """Arguments of SumoEnvironment. The seeds of order["seeds"], or random ones, replace SUMO's argument SEED."""
    seeds = iter(order["seeds"]) if "seeds" in order and order["do"] != "learn" else None
    rng = random.Random(order.get("training_seed", 1))
    sumo_args = " ".join([*SUMO_ARGS, "--no-step-log", *order.get("sumo_args", [])])

    class Seeded(env_module.SumoEnvironment):
        def reset(self, seed=None, **more):
            seed = next(seeds) if seeds else rng.randrange(10**6, 2**31 - 1)
            self.additional_sumo_cmd = sumo_args.replace("SEED", str(seed))
            return super().reset(seed=seed, **more)

    env_module.SumoEnvironment = Seeded
    env_module.SumoEnvironmentPZ.render_mode = None  # supersuit reads it, but sumo-rl 1.4.5 does not define it
    info = order.get("info", False)
    return Seeded, dict(net_file=order["net"], route_file=order["routes"], num_seconds=EPISODE_S, delta_time=PERIOD_S, yellow_time=YELLOW_S,
                        min_green=MIN_GREEN_S, single_agent=order["single"], add_system_info=info, add_per_agent_info=info,
                        sumo_warnings=False)


def peer_random(order, make, arguments):
    env = make(**arguments)
    rng = random.Random(1)
    begin, decisions = cpu_here(), 0
    for _ in order["seeds"]:
        env.reset()
        done = False
        while not done:
            if order["single"]:
                done = env.step(rng.randrange(env.action_space.n))[3]
            else:
                done = env.step({light: rng.randrange(env.action_spaces(light).n) for light in env.ts_ids})[2]["__all__"]
            decisions += 1
    env.close()
    return {"decisions": decisions, "cpu_s": cpu_here() - begin}


def peer_vector(order, make, arguments):
    """Returns (environment for PPO, lights)."""
    if order["single"]:
        return make(**arguments), 1
    import sumo_rl, supersuit
    from stable_baselines3.common.vec_env import VecMonitor
    arguments.pop("single_agent")
    env = supersuit.pettingzoo_env_to_vec_env_v1(sumo_rl.parallel_env(**arguments))
    lights = env.num_envs
    return VecMonitor(supersuit.concat_vec_envs_v1(env, 1, num_cpus=1, base_class="stable_baselines3")), lights


def peer_ppo(order, env):
    from stable_baselines3 import PPO
    from stable_baselines3.common.utils import set_random_seed
    if order["settings"] == "ours":  # configs/signals.toml at the time of the measurement, with a constant rate
        more = dict(n_steps=EPISODES * DECISIONS, batch_size=512 if not order["single"] else 180, n_epochs=6, learning_rate=1e-3, gamma=0.95,
                    gae_lambda=0.9, ent_coef=0.01, target_kl=0.05)
    elif order["single"]:  # sumo-rl's ppo_big-intersection.py
        more = dict(learning_rate=1e-3)
    else:  # sumo-rl's sb3_grid4x4.py
        more = dict(gamma=0.95, n_steps=256, ent_coef=0.0905168, learning_rate=0.00062211, vf_coef=0.042202, max_grad_norm=0.9,
                    gae_lambda=0.99, n_epochs=5, clip_range=0.3, batch_size=256)
    set_random_seed(order.get("training_seed", 1))  # PPO(seed=...) would also seed the environment, which supersuit's does not support
    return PPO("MlpPolicy", env, device="cpu", **more)


def peer_learn(order, make, arguments):
    """Trains until the ordered decisions and seconds of processor time are reached; checks after each update."""
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    torch.set_num_threads(1)
    env, lights = peer_vector(order, make, arguments)
    model = peer_ppo(order, env)
    wanted = {"equal simulated time": lambda: model.num_timesteps >= lights * order["decisions"]}
    if "cpu_s" in order:
        wanted["equal processor time"] = lambda: cpu_here() >= order["cpu_s"]
    marks = []

    class Marks(BaseCallback):
        def _on_rollout_start(self):
            for what in [name for name, is_over in wanted.items() if is_over()]:
                del wanted[what]
                path = f"{order.get('save', '')}{len(marks)}.zip"
                if "save" in order:
                    model.save(path)
                marks.append({"what": what, "model": path, "decisions": model.num_timesteps // lights, "cpu_s": cpu_here()})

        def _on_step(self):
            return bool(wanted)

    begin = cpu_here()
    model.learn(10**9, callback=Marks())
    decisions = model.num_timesteps // lights
    env.close()
    return {"decisions": decisions, "cpu_s": cpu_here() - begin, "marks": marks}


def peer_evaluate(order, make, arguments):
    import torch
    from stable_baselines3 import PPO
    torch.set_num_threads(1)
    model = PPO.load(order["model"], device="cpu")
    env = make(**arguments)

    def choose(seen):
        return int(model.predict(seen, deterministic=True)[0])

    for _ in order["seeds"]:
        seen, done = env.reset(), False
        if order["single"]:
            seen = seen[0]
        while not done:
            if order["single"]:
                seen, _, _, done, _ = env.step(choose(seen))
            else:
                seen, _, dones, _ = env.step({light: choose(of_light) for light, of_light in seen.items()})
                done = dones["__all__"]
    env.close()
    return {}


def our_environment(order, opened):
    """Calls opened(traffic_env, make), where make(class) opens an environment. Returns decisions and seconds of processor
    time, without those that opening and closing alone take."""
    sys.path.insert(0, str(ROOT / "launch/python"))
    import traffic_env
    settings = {"env.scenario": order["cfg"], "env.max_time_s": EPISODE_S, "env.control_period_s": PERIOD_S, "env.yellow_s": YELLOW_S,
                "env.min_green_s": MIN_GREEN_S, "env.all_red_s": 0}

    def make(kind):
        return kind(ROOT / "configs/signals.toml", settings, library=Path(program("sumo_env")).with_name("libtraffic_env.so"))

    marks = [cpu_here()]
    make(traffic_env.ParallelLights).close()
    marks.append(cpu_here())
    decisions = opened(traffic_env, make)
    marks.append(cpu_here())
    return {"decisions": decisions, "cpu_s": marks[2] - marks[1] - (marks[1] - marks[0])}


def our_random(order):
    def run_episodes(traffic_env, make):
        env, rng, decisions = make(traffic_env.ParallelLights), random.Random(1), 0
        for seed in order["seeds"]:
            env.reset(seed=seed)
            while env.agents:
                env.step({light: rng.randrange(options) for light, options in zip(env.agents, env.simulations.num_options)})
                decisions += 1
        env.close()
        return decisions
    return our_environment(order, run_episodes)


def our_learn(order):
    import torch
    from stable_baselines3 import PPO
    torch.set_num_threads(1)
    PPO("MlpPolicy", "CartPole-v1", device="cpu")  # the measurement shall not contain what torch does once

    def learn(traffic_env, make):
        env = traffic_env.for_sb3(make(traffic_env.SharedLights))
        model = peer_ppo(order, env)
        model.learn(env.num_envs * order["decisions"])
        env.close()
        return model.num_timesteps // env.num_envs
    return our_environment(order, learn)


def as_peer(order):
    import importlib
    if order["do"].startswith("our_"):
        return print("\n" + json.dumps({"our_random": our_random, "our_learn": our_learn}[order["do"]](order)), flush=True)
    make, arguments = peer_arguments(order, importlib.import_module("sumo_rl.environment.env"))
    do = {"random": peer_random, "learn": peer_learn, "evaluate": peer_evaluate}[order["do"]]
    print("\n" + json.dumps(do(order, make, arguments)), flush=True)


def find_peer(args):
    """Returns the peer's interpreter: the one named by --peer-python, otherwise the one in the venv."""
    here = args.folder / "sb3"
    if args.install_peer:
        venv.create(here, with_pip=True)
        subprocess.run([str(here / "bin/python"), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    if not args.peer_python and (here / "bin/python").exists():
        args.peer_python = str(here / "bin/python")
    if not args.peer_python:
        print("neither --peer-python nor --install-peer is given: the peer's rows are left out")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install-peer", action="store_true")
    parser.add_argument("--peer-python", help="a Python interpreter with the peer installed")
    parser.add_argument("--networks", nargs="+", default=["one_light", "lights_grid"])
    parser.add_argument("--parts", nargs="+", default=["rates", "delay"], choices=["rates", "delay", "python"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=5, help="number of episodes in a measurement with random actions")
    parser.add_argument("--iterations", type=int, default=8, help=f"number of iterations in a measurement with PPO, with {EPISODES} episodes each")
    parser.add_argument("--without", nargs="+", default=[], metavar="WORD", help="leave out measurements whose name contains this word, e.g. TraCI")
    parser.add_argument("--training", type=int, default=40, help="iterations of our training before delay is measured")
    parser.add_argument("--training-seeds", type=int, default=2)
    parser.add_argument("--eval-seeds", type=int, default=10)
    parser.add_argument("--peer-settings", nargs="+", default=["example", "ours"], choices=["example", "ours"])
    parser.add_argument("--folder", type=Path, default=ROOT / ".cache/lights")
    parser.add_argument("--as-peer", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_peer:
        return as_peer(args.as_peer)
    args.folder = args.folder.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    find_peer(args)
    for name in ("traffic_train", "traffic_eval"):
        program(name)
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.networks:
            cfg = network(name, args.folder)
            for part in args.parts:
                {"rates": rates, "delay": delay, "python": python_rates}[part](args, name, cfg, Path(scratch))


if __name__ == "__main__":
    sys.exit(main())
