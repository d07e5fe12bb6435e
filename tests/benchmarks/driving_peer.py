#!/usr/bin/env python3
"""Trains the network of the driving policy with PyTorch: DataLoader and DistributedDataParallel on gloo.

compare_driving.py starts this program. All images are in memory, so that it does not spend time on drawing them.
Prints one line: samples per second of processor time and of wall time, and the maximum of resident memory.
"""
import argparse, os, resource, time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MODES, PLAN, STATUS = 20, 12, 41


class Images(Dataset):
    """A fixed set of images with sparse cells, and random numbers for the rest."""

    def __init__(self, samples=512):
        make = torch.Generator().manual_seed(1)
        self.image = ((torch.rand(samples, 8, 64, 96, generator=make) < 0.1) * 255).to(torch.uint8)
        self.status = torch.rand(samples, STATUS, generator=make)
        self.plan = torch.randn(samples, PLAN, generator=make)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        index %= len(self.image)
        return self.image[index], self.status[index], self.plan[index]


class Network(nn.Module):
    """The small network of model/driving_network.h with the head diffusion."""

    def __init__(self, width=96, hidden=256):
        super().__init__()
        self.image = nn.Sequential(
            nn.Conv2d(8, 2 * width // 3, 4, stride=4), nn.ReLU(), nn.Conv2d(2 * width // 3, width, 2, stride=2), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(24 * width, 192), nn.ReLU())
        self.status = nn.Sequential(nn.Linear(STATUS, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.join, self.context, self.level = nn.Linear(256, hidden), nn.Linear(hidden, hidden), nn.Linear(1, hidden)
        self.anchor = nn.Linear(PLAN, hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden // 2), nn.ReLU(), nn.Linear(hidden // 2, PLAN + 1))
        self.register_buffer("anchors", torch.randn(MODES, PLAN))

    def forward(self, image, status, plan):
        seen = torch.cat([self.image(image.float() / 255), self.status(status)], 1)
        seen = torch.relu(self.join(seen))
        nearest = (self.anchors - plan[:, None]).square().sum(-1).argmin(1)
        level = torch.rand(len(plan), 1)
        noisy = self.anchors + 0.1 * level[..., None] * torch.randn(len(plan), MODES, PLAN)
        shared = self.context(seen) + self.level(level)
        out = self.head(torch.relu(self.anchor(noisy) + shared[:, None]))
        chosen = (noisy + out[..., :PLAN])[torch.arange(len(plan)), nearest]
        return nn.functional.smooth_l1_loss(chosen, plan) + 0.3 * nn.functional.cross_entropy(out[..., PLAN], nearest)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    torch.set_num_threads(1)
    network = Network().to(memory_format=torch.channels_last)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        torch.distributed.init_process_group("gloo")
        network = nn.parallel.DistributedDataParallel(network)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3)
    batches = iter(DataLoader(Images(), batch_size=args.batch, shuffle=False))
    for step in range(args.warmup + args.steps):
        if step == args.warmup:
            wall, processor = time.perf_counter(), time.process_time()
        optimiser.zero_grad()
        network(*next(batches)).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    done = args.steps * args.batch
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"RESULT cpu={done / (time.process_time() - processor):.1f} wall={done / (time.perf_counter() - wall):.1f} "
          f"rss={memory:.0f}MB", flush=True)


if __name__ == "__main__":
    main()
