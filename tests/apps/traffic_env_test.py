#!/usr/bin/env python3
"""Tests libtraffic_env.so and launch/python/traffic_env.py. Usage: traffic_env_test.py FOLDER_OF_PROGRAMS"""
import json, multiprocessing, os, re, shutil, signal, subprocess, sys, tempfile, unittest, warnings
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import traffic_env
from traffic_env import AllLights, ParallelLights, SharedLights, Simulations, TrafficError

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release/bin"
CONFIG = ROOT / "configs/signals.toml"
GRID = {"env.scenario": "lights_grid", "env.max_time_s": 300}
ARGUMENTS = {"config": CONFIG, "settings": GRID, "library": BIN / "libtraffic_env.so"}
NUM_LIGHTS = 9
traffic_env.LIBRARY = ARGUMENTS["library"]  # the examples of the guide name no library


def children(pid):
    """All descendants of a process, as (process id, name)."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, tail = stat.read_text().rsplit(")", 1)
        except OSError:  # the process has ended
            continue
        if int(tail.split()[1]) == pid:
            child = int(stat.parent.name)
            yield child, head.split("(", 1)[1]
            yield from children(child)


def by_rule(simulations, number, answer):
    """The rule of light_periods.cpp. A light that may not switch gets an action that its mask does not allow."""
    return [(number + light) % simulations.num_options[light] for light in range(len(simulations.lights))]


def episode(simulations, simulation, seed, rule=by_rule):
    """All answers of an episode."""
    simulations.reset(simulation, seed)
    answers = [simulations.wait(simulation)]
    while not answers[-1].done:
        simulations.step(simulation, rule(simulations, len(answers) - 1, answers[-1]))
        answers.append(simulations.wait(simulation))
    return answers


def same(these, those):
    return len(these) == len(those) and all(np.array_equal(x, y) for a, b in zip(these, those) for x, y in zip(a, b))


class AgainstThePoolOfATraining(unittest.TestCase):
    def expect_equal(self, settings):
        simulations = Simulations(CONFIG, {**GRID, **settings}, library=ARGUMENTS["library"])
        answers = episode(simulations, 0, 7)
        arguments = [f"{key}={json.dumps(value)}" for key, value in {**GRID, **settings, "rollout.workers": 1}.items()]
        run = subprocess.run([ROOT / "launch/mpirun.sh", "-np", "1", BIN / "light_periods", CONFIG, "7", *arguments],
                             capture_output=True, text=True, check=True)
        periods = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual(len(answers), len(periods))
        switching = 0
        for answer, period in zip(answers, periods):
            self.assertEqual((answer.time_s, answer.done, answer.delay_s), (period["time_s"], period["done"], period["delay_s"]))
            np.testing.assert_array_equal(answer.rewards, -(0.1 * np.array(period["lost_s"])).astype(np.float32))
            choosing = period["choosing"]
            np.testing.assert_array_equal(np.flatnonzero(answer.mask.sum(axis=1) > 1), choosing)
            rows = [answer.observations[light, :simulations.num_options[light]].ravel() for light in choosing]
            np.testing.assert_array_equal(np.concatenate(rows or [[]]), np.array(period["rows"], np.float32))
            switching += len(choosing)
        self.assertGreater(switching, 100)
        self.assertGreater(answers[-1].lost_s, 0)

    def test_observations_and_rewards_are_equal(self):
        self.expect_equal({})

    def test_they_are_equal_if_the_lights_keep_their_programs(self):
        self.expect_equal({"lights.advisor": "program"})


class OfSimulations(unittest.TestCase):
    def test_the_layout_names_lights_and_features(self):
        simulations = Simulations(**ARGUMENTS)
        self.assertCountEqual(simulations.lights, [f"{column}{row}" for column in "ABC" for row in range(3)])
        self.assertEqual(simulations.num_options.max(), simulations.max_options)
        self.assertTrue((simulations.num_options >= 2).all())
        self.assertEqual((simulations.features[0], simulations.features[-1], len(simulations.features)), ("vehicles", "advised", 26))
        self.assertEqual((simulations.control_period_s, simulations.max_time_s), (5, 300))

    def test_all_lights_are_observed_and_masked_in_every_answer(self):
        simulations = Simulations(**ARGUMENTS)
        answers = episode(simulations, 0, 3)
        present = simulations.features.index("is_present")
        waiting = 0
        for answer in answers[2:-1]:  # SUMO shows the first greens after the first step
            for light, options in enumerate(simulations.num_options):
                shown = answer.observations[light, :, present]
                self.assertEqual(shown.sum(), 1, "the light shows one option, or yellow after it")
                self.assertTrue((answer.observations[light, options:] == 0).all())
                self.assertFalse(answer.mask[light, options:].any())
                if answer.mask[light].sum() == 1:
                    np.testing.assert_array_equal(answer.mask[light], shown == 1)
                    waiting += 1
        self.assertGreater(waiting, 50)

    def test_an_action_that_the_mask_does_not_allow_changes_nothing(self):
        def allowed(simulations, number, answer):
            actions = by_rule(simulations, number, answer)
            return [a if answer.mask[l, a] else answer.mask[l].argmax() for l, a in enumerate(actions)]

        simulations = Simulations(**ARGUMENTS)
        self.assertTrue(same(episode(simulations, 0, 5), episode(simulations, 0, 5, allowed)))

    def test_several_simulations_give_what_each_gives_alone(self):
        alone = Simulations(**ARGUMENTS)
        together = SharedLights(**ARGUMENTS, num_simulations=2)
        expected = [episode(alone, 0, seed) for seed in (11, 12)]
        observations, _ = together.reset(seed=11)
        for number in range(20):
            for k in range(2):
                part = slice(k * NUM_LIGHTS, (k + 1) * NUM_LIGHTS)
                np.testing.assert_array_equal(observations[part], expected[k][number].observations)
            actions = [by_rule(alone, number, None) for _ in range(2)]
            observations, rewards, _, _, infos = together.step(np.concatenate(actions))
            np.testing.assert_array_equal(rewards[NUM_LIGHTS:], expected[1][number + 1].rewards)
            np.testing.assert_array_equal(infos["action_mask"][:NUM_LIGHTS], expected[0][number + 1].mask)

    def test_the_demand_of_an_episode_can_be_scaled(self):
        lights = AllLights(**ARGUMENTS)
        lost_s = []
        for demand in (0.3, 1.3):
            lights.reset(seed=1, options={"demand": demand})
            done = False
            while not done:
                *_, terminated, truncated, info = lights.step(np.zeros(NUM_LIGHTS, int))
                done = terminated or truncated
            lost_s.append(info["lost_s"])
        self.assertGreater(lost_s[1], 2 * lost_s[0])


class OfInterfaces(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")  # the checkers advise to bound and to normalise the spaces

    def test_gymnasium_accepts_all_lights(self):
        check_env(AllLights(**ARGUMENTS), skip_render_check=True)

    def test_pettingzoo_accepts_parallel_lights(self):
        parallel_api_test(ParallelLights(**ARGUMENTS), num_cycles=130)  # more than two episodes
        parallel_seed_test(lambda: ParallelLights(**ARGUMENTS), num_cycles=20)

    def test_shared_lights_begin_the_next_episode_in_the_last_step(self):
        lights = SharedLights(**{**ARGUMENTS, "settings": {**GRID, "env.max_time_s": 50}}, num_simulations=2)
        self.assertIsInstance(lights, gymnasium.vector.VectorEnv)
        observations, infos = lights.reset(seed=4)
        self.assertIn(observations, lights.observation_space)
        for step in range(1, 21):
            observations, rewards, terminated, truncated, infos = lights.step(lights.action_space.sample())
            self.assertIn(observations, lights.observation_space)
            self.assertEqual((rewards.shape, terminated.any()), ((2 * NUM_LIGHTS,), False))
            self.assertEqual((truncated.all(), truncated.any()), (step % 10 == 0,) * 2)
            self.assertEqual(infos["time_s"][0], 5 * (step % 10))
            if step % 10 == 0:
                self.assertEqual(infos["final_obs"][0].shape, lights.single_observation_space.shape)
                self.assertEqual(infos["final_info"]["time_s"][-1], 50)
                self.assertFalse(np.array_equal(infos["final_obs"][0], observations[0]))

    def test_episodes_without_a_seed_differ_and_repeat_with_the_first_seed(self):
        lights = AllLights(**ARGUMENTS)

        def second_episode():
            lights.reset(seed=2)
            lights.reset()
            return [lights.step(np.zeros(NUM_LIGHTS, int))[0] for _ in range(20)][-1]

        first = second_episode()
        np.testing.assert_array_equal(first, second_episode())
        lights.reset()
        self.assertFalse(np.array_equal(first, [lights.step(np.zeros(NUM_LIGHTS, int))[0] for _ in range(20)][-1]))

    def test_the_examples_of_the_guide_run(self):
        examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guide/python.md").read_text(), re.DOTALL)
        self.assertEqual(len(examples), 3)
        for example in examples:
            if "stable_baselines3" not in example:  # the test python_ppo runs the example that does
                exec(example, {})

    def test_the_header_is_valid_c(self):
        with tempfile.NamedTemporaryFile("w", suffix=".c") as source:
            source.write("#include \"traffic/apps/traffic_env.h\"\nint main(void) { return traffic_env_interface() != 1; }\n")
            source.flush()
            subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{ROOT}/include", source.name],
                           check=True)


class OfErrors(unittest.TestCase):
    def expect(self, code, text, call, *arguments, **more):
        with self.assertRaises(TrafficError) as raised:
            call(*arguments, **more)
        self.assertIn(text, str(raised.exception))
        self.assertEqual(raised.exception.code, code, str(raised.exception))

    def open(self, config=CONFIG, num_simulations=1, **settings):
        return Simulations(config, {**GRID, **settings}, num_simulations, ARGUMENTS["library"])

    def test_settings_that_do_not_fit_are_refused(self):
        self.expect(2, "env.sceanrio", self.open, **{"env.sceanrio": "lights_grid"})
        self.expect(2, "no_such_file.toml", self.open, config="no_such_file.toml")
        self.expect(2, 'expected ["lights"]', self.open, config=ROOT / "configs/phase2.toml")
        self.expect(2, "found 2 scenarios", self.open, **{"env.scenarios": ["lights_grid", "lights_town"]})
        self.expect(2, "found 0 simulations, expected 1 to 256", self.open, num_simulations=0)
        self.expect(2, "no library", Simulations, library="nowhere.so")
        self.expect(6, "no_such_scenario", self.open, **{"env.scenario": "no_such_scenario"})
        self.expect(3, "none with at least two greens", self.open, **{"env.scenario": "merge"})

    def test_calls_in_the_wrong_order_or_with_wrong_actions_are_refused(self):
        simulations = self.open()
        keep = np.zeros(NUM_LIGHTS, int)
        self.expect(2, "no order to wait for", simulations.wait, 0)
        self.expect(2, "found simulation 1, expected 0 to 0", simulations.reset, 1, 1)
        self.expect(2, "expected one above 0 and up to 100", simulations.reset, 0, 1, -1.0)
        simulations.reset(0, 1)
        self.expect(2, "has an order already", simulations.step, 0, keep)
        simulations.wait(0)
        self.expect(2, "found option 99 for light A1, expected 0 to 3", simulations.step, 0, keep + 99)
        self.assertRaises(ValueError, simulations.step, 0, keep[1:])
        episode(simulations, 0, 1)
        self.expect(2, "no running episode", simulations.step, 0, keep)
        simulations.close()
        self.expect(2, "have been closed", simulations.reset, 0, 1)
        self.assertRaises(ValueError, ParallelLights(**ARGUMENTS).step, {})

    def test_a_reset_discards_an_order_whose_answer_was_not_read(self):
        simulations = self.open()
        expected = episode(simulations, 0, 8)
        simulations.reset(0, 8)
        self.assertTrue(same(episode(simulations, 0, 8), expected))

    def test_a_killed_simulation_loses_its_episode_only(self):
        simulations = self.open()
        expected = episode(simulations, 0, 8)
        simulations.reset(0, 8)
        simulations.wait(0)
        simulation = [pid for pid, name in children(os.getpid()) if name == "sumo_env"][-1]  # the process of the episode
        os.kill(simulation, signal.SIGKILL)
        simulations.step(0, np.zeros(NUM_LIGHTS, int))
        self.expect(6, "signal 9", simulations.wait, 0)
        self.assertTrue(same(episode(simulations, 0, 8), expected))

    def test_a_worker_that_cannot_run_is_named_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            library = shutil.copy(ARGUMENTS["library"], folder)
            os.symlink(BIN / "sumo_env", f"{folder}/sumo_env")
            self.expect(6, "there is no program", Simulations, CONFIG, GRID, 1, library)
            os.symlink("/bin/false", f"{folder}/rollout_worker")
            self.expect(6, "rollout_worker ended with exit code 1 before it was ready", Simulations, CONFIG, GRID, 1, library)

    def test_a_forked_process_cannot_use_the_simulations_and_does_not_end_them(self):
        lights = AllLights(**ARGUMENTS)
        lights.reset(seed=1)

        def use_and_close():
            try:
                lights.reset(seed=1)
            except TrafficError as error:
                lights.close()
                os._exit(error.code)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer versions of Python advise against fork
            child = multiprocessing.get_context("fork").Process(target=use_and_close)
            child.start()
            child.join()
        self.assertEqual(child.exitcode, 2)
        lights.step(np.zeros(NUM_LIGHTS, int))

    def test_closed_simulations_leave_no_process(self):
        before = set(children(os.getpid()))
        lights = AllLights(**ARGUMENTS)
        self.assertEqual({name for _, name in set(children(os.getpid())) - before}, {"rollout_worker", "sumo_env"})
        lights.close()
        self.assertEqual(set(children(os.getpid())) - before, set())


if __name__ == "__main__":
    unittest.main()
