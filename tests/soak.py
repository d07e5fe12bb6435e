#!/usr/bin/env python3
"""Trains phase 2 for a while, causes a fault every few seconds, and reports the cost of the faults.

Usage: tests/soak.py [--minutes 30] [--every 20] [--seed 1] [--keep DIR]

The script kills simulations or stops them by SIGSTOP. Now and then it kills a rank or a rollout worker, after which
launch/restart.sh starts the job again. The cost of the faults is the ratio of two rates: the rate over the whole time, and
the rate in the second half of each pause between two faults, in which the training runs undisturbed. Both rates come from
the same minutes, because the speeds of the machine and of the policy change over time. The test fails (exit code 1) if the
job ends by itself, if a process or a file in /dev/shm is left behind, or if memory, descriptors or threads of the ranks
grow. It signals only processes that it has started itself.
"""
import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETTINGS = ['env.max_time_s=120', 'rollout.workers=1', 'rollout.envs_per_worker=4', 'training.iterations=100000',
            'episodes.train_batch_size=200', 'ppo.minibatch_size=100', 'ppo.num_epochs=2', 'training.eval_interval=20',
            'training.eval_episodes=2', 'episodes.baseline_episodes=4', 'evaluation.seeds=', 'vehicles.hidden_dim=32',
            'rollout.env_timeout_s=10', 'rollout.max_restarts=50', 'checkpoint.save_interval_s=5', 'comm.timeout_s=60']
FAULTS = {'kill a simulation': 12, 'stop a simulation': 6, 'kill all simulations': 2, 'kill a rank': 1,
          'kill the rollout worker': 1}


def children_of(root):
    """Descendant processes of root: {pid: (name, state)}."""
    parents, facts = {}, {}
    for entry in os.listdir('/proc'):
        if not entry.isdigit():
            continue
        try:
            with open(f'/proc/{entry}/stat') as file:
                text = file.read()
        except OSError:
            continue
        name = text[text.index('(') + 1:text.rindex(')')]
        state, parent = text[text.rindex(')') + 2:].split()[:2]
        parents[int(entry)] = int(parent)
        facts[int(entry)] = (name, state)
    below, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in below} - below
        grown = bool(more)
        below |= more
    return {pid: facts[pid] for pid in below if pid in facts and pid != root and facts[pid][1] != 'Z'}


def named(job, name):
    return sorted(pid for pid, (found, _) in children_of(job.pid).items() if found == name)


def usage(pid):
    """Resident MB, open descriptors and threads of a process, or None if it has ended."""
    try:
        with open(f'/proc/{pid}/status') as file:
            status = dict(line.split(':', 1) for line in file)
        return (int(status['VmRSS'].split()[0]) / 1024, len(os.listdir(f'/proc/{pid}/fd')), int(status['Threads']))
    except (OSError, KeyError):
        return None


def start(run_dir, cache):
    command = [f'{ROOT}/launch/restart.sh', '100000', f'{ROOT}/launch/mpirun.sh', '-np', '2', f'{ROOT}/traffic_train',
               f'{ROOT}/configs/rl_only.toml', '--run-dir', run_dir]
    for setting in SETTINGS + [f'episodes.baseline_cache={cache}']:
        command += ['--set', setting]
    log = open(f'{run_dir}.log', 'ab')
    return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def progress(run_dir):
    """Number of control steps so far."""
    steps = 0
    try:
        with open(f'{run_dir}/metrics.jsonl') as file:
            for line in file:
                try:
                    steps = max(steps, json.loads(line).get('time/total_timesteps', 0))
                except json.JSONDecodeError:
                    pass  # a last line that is being written
    except OSError:
        pass
    return steps


def wait_for_progress(job, run_dir, limit_s=300):
    until = time.monotonic() + limit_s
    while progress(run_dir) == 0:
        if job.poll() is not None or time.monotonic() > until:
            sys.exit(f'[soak] no iteration was finished; see {run_dir}.log')
        time.sleep(0.2)


def stop(job):
    """Stops the job like a scheduler. Returns its exit code and the processes that are left after 5 s."""
    pids = list(children_of(job.pid))
    job.send_signal(signal.SIGUSR1)
    try:
        code = job.wait(120)
    except subprocess.TimeoutExpired:
        code = None
        job.kill()
    time.sleep(5)
    left = [pid for pid in pids if os.path.exists(f'/proc/{pid}') and open(f'/proc/{pid}/stat').read().split()[2] != 'Z']
    return code, left


def break_something(job, chance, fault):
    """Returns whether there was a process to break."""
    name = {'kill a rank': 'traffic_train', 'kill the rollout worker': 'rollout_worker'}.get(fault, 'sumo_env')
    victims = named(job, name)
    if not victims:
        return False
    number = signal.SIGSTOP if fault.startswith('stop') else signal.SIGKILL
    for pid in victims if 'all' in fault else [chance.choice(victims)]:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    return True


class Soak:
    """A monitored training: samples of the ranks [(pid, age_s, MB, fds, threads)] and the faults so far."""

    def __init__(self, folder, chance):
        self.run_dir = f'{folder}/run'
        self.chance = chance
        self.counts = dict.fromkeys(FAULTS, 0)
        self.samples, self.ages = [], {}
        self.job = start(self.run_dir, f'{folder}/cache')
        wait_for_progress(self.job, self.run_dir)

    def run(self, seconds, every_s):
        """Trains for `seconds` with a fault every `every_s`. Returns control steps per second (overall, undisturbed)."""
        begun, steps = time.monotonic(), progress(self.run_dir)
        next_fault = begun + every_s
        # rested: steps and time at half of the present pause. untouched: steps and seconds since then, over all pauses.
        rested, untouched = None, [0, 0.0]
        while time.monotonic() < begun + seconds:
            time.sleep(1)
            if self.job.poll() is not None:
                sys.exit(f'[soak] the job ended by itself with exit code {self.job.returncode}; see {self.run_dir}.log')
            now = time.monotonic()
            self.sample(now)
            if rested is None and now >= next_fault - every_s / 2:
                rested = (progress(self.run_dir), now)
            if now >= next_fault:
                untouched[0] += progress(self.run_dir) - rested[0]
                untouched[1] += now - rested[1]
                rested = None
                fault = self.chance.choices(list(FAULTS), FAULTS.values())[0]
                if break_something(self.job, self.chance, fault):
                    self.counts[fault] += 1
                    print(f'[soak] {now - begun:6.0f} s: {fault}', flush=True)
                next_fault = now + every_s
        return (progress(self.run_dir) - steps) / (time.monotonic() - begun), untouched[0] / untouched[1]

    def sample(self, now):
        for pid in named(self.job, 'traffic_train'):
            found = usage(pid)
            if found:
                self.samples.append((pid, now - self.ages.setdefault(pid, now), *found))

    def end(self):
        """Returns the processes that are left behind."""
        code, left = stop(self.job)
        if code != 75:
            sys.exit(f'[soak] stopped with exit code {code}, expected 75; see {self.run_dir}.log')
        return left


def growth(samples, column):
    """Growth of the rank that grew most: median of the last third of its samples minus median of the first third.

    Samples of the first minute of a rank do not count. Returns None if no rank has enough samples.
    """
    grown = []
    for rank in {sample[0] for sample in samples}:
        values = [sample[column] for sample in samples if sample[0] == rank and sample[1] > 60]
        third = len(values) // 3
        if third >= 10:
            grown.append(statistics.median(values[-third:]) - statistics.median(values[:third]))
    return max(grown, default=None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--minutes', type=float, default=30)
    parser.add_argument('--every', type=float, default=20, help='seconds between faults')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep', help='folder for runs and logs; it is not removed at the end')
    options = parser.parse_args()
    if not 0 < options.every < 60 * options.minutes:
        parser.error(f'--every: found {options.every:g} s, expected more than 0 and less than --minutes, {60 * options.minutes:g} s')
    folder = options.keep or tempfile.mkdtemp(prefix='soak-')
    os.makedirs(folder, exist_ok=True)
    shm = set(os.listdir('/dev/shm'))
    chance = random.Random(options.seed)

    soak = Soak(folder, chance)
    rate, untouched = soak.run(60 * options.minutes, options.every)
    left, samples = soak.end(), soak.samples
    print(f'[soak] {sum(soak.counts.values())} faults in {options.minutes:g} minutes:',
          ', '.join(f'{count} x {fault}' for fault, count in soak.counts.items() if count))
    print(f'[soak] goodput: {rate:.1f} control steps a second, {100 * rate / untouched:.1f} % of the undisturbed rate, {untouched:.1f}')

    bad = []
    for column, name, limit in ((2, 'resident MB', 20), (3, 'descriptors', 2), (4, 'threads', 2)):
        grown = growth(samples, column)
        values = [sample[column] for sample in samples]
        print(f'[soak] {name} of a rank: {min(values):.0f} to {max(values):.0f}, growth of the rank that grew most '
              + ('not known, because no rank ran for long enough' if grown is None else f'{grown:+.1f}'))
        if grown is not None and grown > limit:
            bad.append(f'{name} grow by {grown:.1f}')
    new_shm = set(os.listdir('/dev/shm')) - shm
    if left:
        bad.append(f'processes are left: {left}')
    if new_shm:
        bad.append(f'files are left in /dev/shm: {sorted(new_shm)}')
    if not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    if bad:
        sys.exit('[soak] FAILED: ' + '; '.join(bad))
    print('[soak] nothing is left, nothing grew')


if __name__ == '__main__':
    main()
