#!/usr/bin/env python3
"""Converts the weights of the competition's published actor to a flat file of float32, for bench_published_actor.

    tests/benchmarks/published_actor.py actor_2000.pth actor.f32

actor_2000.pth is agent/rl/actor_2000.pth of github.com/jidiai/Competition_3v3snakes. The script reads it without torch and
executes nothing in it: it accepts only the names that a state_dict consists of.
"""
import collections
import pickle
import sys
import zipfile

ORDER = ["prev_dense.0.weight", "prev_dense.0.bias", "post_dense.0.weight", "post_dense.0.bias",
         "post_dense.2.weight", "post_dense.2.bias"]


class Reader(pickle.Unpickler):
    def __init__(self, archive):
        super().__init__(archive.open("archive/data.pkl"))
        self.archive = archive

    def find_class(self, module, name):
        known = {("collections", "OrderedDict"): collections.OrderedDict,
                 ("torch._utils", "_rebuild_tensor_v2"): lambda storage, *rest: storage,
                 ("torch", "FloatStorage"): "float32"}
        return known[module, name]

    def persistent_load(self, identity):
        return self.archive.read("archive/data/" + identity[2])


def main():
    with zipfile.ZipFile(sys.argv[1]) as archive:
        weights = Reader(archive).load()
    with open(sys.argv[2], "wb") as out:
        for name in ORDER:
            out.write(weights[name])


if __name__ == "__main__":
    main()
