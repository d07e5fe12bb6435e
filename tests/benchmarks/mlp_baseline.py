#!/usr/bin/env python3
"""Measures the errors of a small network on recorded traffic, for comparison with those of the world model.

  tests/benchmarks/mlp_baseline.py DATA.h5 ... [--seconds 60]      # needs h5py, numpy and torch

The network has two hidden layers and reads a vehicle's own speed, acceleration, position on its route and lane over four
past seconds, and the gap to its leader and the leader's speed. It is trained on the training episodes for the given time;
the script prints the RMSE on the test episodes, for vehicles that are on the road from 4 s before to 5 s after.
"""
import argparse, time

import h5py
import numpy as np
import torch

NAMES = ["speed_mps", "acceleration_mps2", "lane_index", "remaining_m", "line_distance_m", "lane_end_m", "speed_limit_mps",
         "leader_gap_m", "leader_speed_mps"]
PAST, AHEAD = 4, 5


def windows(paths, split):
    """Returns [N, PAST + 1, F] inputs, [N, AHEAD, 2] distance and speed in the next seconds, [N] current speed."""
    inputs, targets = [], []
    for path in paths:
        f = h5py.File(path)
        names = [n.decode() for n in f.attrs["node_feature_names"]]
        columns = [names.index(n) for n in NAMES]
        scale = f.attrs["node_feature_scale"][columns]
        ptr = f["frames/node_ptr"][:]
        for e in np.flatnonzero(f["episodes/split"][:] == split):
            first, count = f["episodes/first_frame"][e], f["episodes/num_frames"][e]
            begin, end = ptr[first], ptr[first + count]
            x = f["nodes/features"][begin:end][:, columns].astype(np.float32)
            frame = np.repeat(np.arange(count), np.diff(ptr[first:first + count + 1]))
            vehicle, position = f["nodes/vehicle_id"][begin:end], f["nodes/position_m"][begin:end]
            order = np.lexsort((frame, vehicle))
            x, frame, vehicle, position = x[order], frame[order], vehicle[order], position[order]
            now = np.arange(PAST, len(frame) - AHEAD)
            whole = (vehicle[now - PAST] == vehicle[now + AHEAD]) & (frame[now + AHEAD] - frame[now - PAST] == PAST + AHEAD)
            now = now[whole]
            inputs.append(np.stack([x[now - k] / scale for k in range(PAST + 1)], 1))
            targets.append(np.stack([np.stack([position[now + k] - position[now], x[now + k, 0]], 1)
                                     for k in range(1, AHEAD + 1)], 1))
    inputs, targets = map(lambda a: torch.from_numpy(np.concatenate(a).astype(np.float32)), (inputs, targets))
    return inputs, targets, inputs[:, 0, 0] * float(scale[0])


def rmse(prediction, target):
    return (prediction - target).square().mean(0).sqrt()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y, speed = windows(args.data, 0)
    ahead = torch.arange(1, AHEAD + 1, dtype=torch.float32)

    def free(speed):  # distance and speed at constant velocity
        return torch.stack([speed[:, None] * ahead, speed[:, None].expand(-1, AHEAD)], 2)

    spread = (y - free(speed)).std(0)
    net = torch.nn.Sequential(torch.nn.Linear(x[0].numel(), 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU(),
                              torch.nn.Linear(128, 2 * AHEAD))
    optimiser = torch.optim.Adam(net.parameters(), lr=2e-3)
    start = time.monotonic()
    while (left := 1 - (time.monotonic() - start) / args.seconds) > 0:
        optimiser.param_groups[0]["lr"] = 2e-3 * left
        rows = torch.randint(len(x), (1024,))
        wanted = (y[rows] - free(speed[rows])) / spread
        loss = torch.nn.functional.smooth_l1_loss(net(x[rows].flatten(1)).view_as(wanted), wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    x, y, speed = windows(args.data, 2)
    with torch.no_grad():
        predicted = torch.cat([net(part.flatten(1)) for part in x.split(65536)]).view_as(y) * spread + free(speed)
    for name, p in (("constant velocity", free(speed)), ("small network", predicted)):
        error = rmse(p, y)
        print(f"{name}: RMSE at 1 / 5 s, speed {error[0, 1]:.3f} / {error[-1, 1]:.3f} m/s, "
              f"position {error[0, 0]:.3f} / {error[-1, 0]:.3f} m, {len(y)} cases")


if __name__ == "__main__":
    main()
