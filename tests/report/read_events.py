#!/usr/bin/env python3
"""Prints the scalars of a TensorBoard folder, read with TensorBoard's own reader, as JSON:
{"tag": [[step, wall time, value], ...], ...}. Usage: read_events.py FOLDER"""
import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
tags = events.Tags()["scalars"]
print(json.dumps({t: [[e.step, e.wall_time, e.value] for e in events.Scalars(t)] for t in tags}))
