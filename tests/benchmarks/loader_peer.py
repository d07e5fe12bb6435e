#!/usr/bin/env python3
"""Makes the batches of data/loader.h in Python with h5py and torch's DataLoader. compare_loader.py starts this program.

Prints one line of JSON per epoch: seconds from the first request to the last batch, windows, vehicles, edges.
"""
import argparse, glob, json, time

import h5py, numpy as np, torch
from torch.utils.data import DataLoader, Dataset

HISTORY, HORIZON, MAX_VEHICLES, STRIDE, CONFLICT_TTC_S = 10, 5, 16, 5, 2.0
TRAIN = 0


def crop(xy, index):
    """Nodes of one region: the area is halved across its longer side, as in data/windows.h."""
    nodes = np.arange(len(xy))
    cells = -(-len(nodes) // MAX_VEHICLES)
    while cells > 1:
        left = cells // 2
        size = len(nodes) * left // cells
        low, high = xy[nodes].min(axis=0), xy[nodes].max(axis=0)
        axis = int(high[1] - low[1] > high[0] - low[0])
        order = nodes[np.lexsort((nodes, xy[nodes, axis]))]
        if index < left:
            nodes, cells = order[:size], left
        else:
            nodes, index, cells = order[size:], index - left, cells - left
    return np.sort(nodes)


class Windows(Dataset):
    """Samples as (file, anchor frame, crop); the worker that reads a file opens it."""

    def __init__(self, paths):
        self.paths, self.files, self.samples, self.tables = paths, {}, [], []
        for number, path in enumerate(paths):
            with h5py.File(path) as file:
                nodes, edges = file["frames/node_ptr"][:], file["frames/edge_ptr"][:]
                names = [name.decode() for name in file.attrs["node_feature_names"]]
                self.tables.append((nodes, edges))
                self.offset, self.scale = file.attrs["node_feature_offset"], file.attrs["node_feature_scale"]
                self.edge_offset, self.edge_scale = file.attrs["edge_feature_offset"], file.attrs["edge_feature_scale"]
                episodes = zip(file["episodes/first_frame"][:], file["episodes/num_frames"][:], file["episodes/split"][:])
                for first, count, split in episodes:
                    if split != TRAIN:
                        continue
                    for anchor in range(first + HISTORY - 1, first + count - HORIZON, STRIDE):
                        vehicles = nodes[anchor + 1] - nodes[anchor]
                        self.samples += [(number, anchor, c) for c in range(-(-vehicles // MAX_VEHICLES))]
        self.now = [names.index(n) for n in ("speed_mps", "acceleration_mps2", "lane_index")]
        self.gap, self.closing = names.index("leader_gap_m"), names.index("leader_speed_mps")

    def __len__(self):
        return len(self.samples)

    def open(self, number):
        if number not in self.files:
            # The chunk cache must hold the chunks of neighbouring windows, for which the default of 1 MiB is too small.
            file = h5py.File(self.paths[number], rdcc_nbytes=64 << 20, rdcc_nslots=10007)
            self.files[number] = {name: file[name] for name in (
                "nodes/features", "nodes/position_m", "nodes/xy_m", "nodes/vehicle_id", "nodes/in_degree", "edges/src",
                "edges/features")}
        return self.files[number]

    def __getitem__(self, index):
        number, anchor, which = self.samples[index]
        file, (node_ptr, edge_ptr) = self.open(number), self.tables[number]
        begin = anchor - HISTORY + 1
        ptr = node_ptr[begin:anchor + HORIZON + 2] - node_ptr[begin]
        rows = slice(node_ptr[begin], node_ptr[anchor + HORIZON + 1])
        features, position = file["nodes/features"][rows].astype(np.float32), file["nodes/position_m"][rows]
        ids = file["nodes/vehicle_id"][rows]
        chosen = crop(file["nodes/xy_m"][node_ptr[anchor]:node_ptr[anchor + 1]], which)
        vehicles = ids[ptr[HISTORY - 1]:ptr[HISTORY]][chosen]
        count, frames = len(vehicles), HISTORY + HORIZON
        row = np.full((frames, count), -1, np.int64)
        order = np.argsort(vehicles)
        for t in range(frames):
            here = ids[ptr[t]:ptr[t + 1]]
            place = np.minimum(np.searchsorted(vehicles, here, sorter=order), count - 1)
            found = vehicles[order[place]] == here
            row[t, order[place[found]]] = ptr[t] + np.flatnonzero(found)
        # A vehicle is followed from frame to frame, so a vehicle that disappears for a while is present again
        # afterwards.
        present = row[:HISTORY] >= 0
        nodes = np.zeros((HISTORY, count, features.shape[1]), np.float32)
        nodes[present] = (features[row[:HISTORY][present]] - self.offset) / self.scale
        edges = self.edges(file, node_ptr, edge_ptr, begin, ptr, row, count)
        now, then = row[HISTORY - 1], row[HISTORY:].T
        mask = then >= 0
        future = np.zeros((4, count, HORIZON), np.float32)
        safe = np.where(mask, then, 0)
        future[0] = np.where(mask, position[safe] - position[now][:, None], 0)
        for k, column in enumerate(self.now):
            future[k + 1] = np.where(mask, features[safe, column], 0)
        closing = -features[safe, self.closing]
        conflict = (mask & (closing > 0) & (features[safe, self.gap] < closing * CONFLICT_TTC_S)).any(axis=1)
        return nodes, present, *edges, features[now][:, self.now].T, future, mask, conflict, index

    def edges(self, file, node_ptr, edge_ptr, begin, ptr, row, count):
        """Edges into the vehicles in all frames of the history, if both ends are among the vehicles."""
        rows = slice(node_ptr[begin], node_ptr[begin + HISTORY])
        span = slice(edge_ptr[begin], edge_ptr[begin + HISTORY])
        degree, source = file["nodes/in_degree"][rows].astype(np.int64), file["edges/src"][span].astype(np.int64)
        features = file["edges/features"][span].astype(np.float32)
        per_frame = np.diff(edge_ptr[begin:begin + HISTORY + 1])
        batch_row = np.full(ptr[HISTORY] + 1, -1, np.int64)
        t, s = np.nonzero(row[:HISTORY] >= 0)
        batch_row[row[t, s]] = t * count + s
        to = batch_row[np.repeat(np.arange(len(degree)), degree)]
        tail = batch_row[source + np.repeat(ptr[:HISTORY], per_frame)]
        keep = np.flatnonzero((to >= 0) & (tail >= 0))
        keep = keep[np.argsort(to[keep], kind="stable")]
        degrees = np.bincount(to[keep], minlength=HISTORY * count)
        return degrees.reshape(HISTORY, count), tail[keep], (features[keep] - self.edge_offset) / self.edge_scale


def pack(samples):
    """Joins windows into one graph: vehicle s of frame t has row t * S + s, with S vehicles in all windows together."""
    nodes, present, degrees, tails, edges, now, future, mask, conflict, ids = zip(*samples)
    sizes = np.array([p.shape[1] for p in present])
    first = np.concatenate(([0], np.cumsum(sizes)))
    total = first[-1]
    all_degrees = np.concatenate(degrees, axis=1)
    # Reorders edges from window by window to frame by frame.
    tail = np.concatenate([(t // n) * total + f + t % n for t, n, f in zip(tails, sizes, first)])
    frame = np.concatenate([t // n for t, n in zip(tails, sizes)])
    order = np.argsort(frame, kind="stable")
    tensor = torch.from_numpy
    return dict(node_features=tensor(np.concatenate(nodes, axis=1)), present=tensor(np.concatenate(present, axis=1)),
                edge_ptr=tensor(np.concatenate(([0], np.cumsum(all_degrees))).astype(np.int32)),
                edge_src=tensor(tail[order].astype(np.int32)), edge_features=tensor(np.concatenate(edges)[order]),
                sample_ptr=tensor(first.astype(np.int32)), now=tensor(np.concatenate(now, axis=1)),
                future=tensor(np.concatenate(future, axis=1)), future_mask=tensor(np.concatenate(mask)),
                conflict=tensor(np.concatenate(conflict).astype(np.float32)), sample_id=torch.tensor(ids))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--order", choices=("shuffled", "recorded"), default="shuffled")
    options.add_argument("--epochs", type=int, default=2)
    args = options.parse_args()
    torch.set_num_threads(1)
    loader = DataLoader(Windows(sorted(glob.glob(args.files))), batch_size=args.batch, shuffle=args.order == "shuffled",
                        num_workers=args.workers, prefetch_factor=2, persistent_workers=True, collate_fn=pack)
    for _ in range(args.epochs):
        begin = time.monotonic()
        windows = vehicles = edges = 0
        for batch in loader:
            windows += len(batch["sample_id"])
            vehicles += int(batch["sample_ptr"][-1])
            edges += len(batch["edge_src"])
        print(json.dumps(dict(seconds=time.monotonic() - begin, windows=windows, vehicles=vehicles, edges=edges)), flush=True)


if __name__ == "__main__":
    main()
