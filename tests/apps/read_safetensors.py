#!/usr/bin/env python3
"""Prints name, size and sum of every tensor of a safetensors file, without the library of that format.

Such a file consists of 8 bytes with the length of the header (little-endian), the header in JSON, and the values.
"""
import json
import sys

import numpy

DTYPES = {"F32": numpy.float32, "F64": numpy.float64, "I64": numpy.int64}

with open(sys.argv[1], "rb") as file:
    content = file.read()
length = int.from_bytes(content[:8], "little")
header = json.loads(content[8 : 8 + length])
header.pop("__metadata__")
for name, entry in header.items():
    begin, end = entry["data_offsets"]
    values = numpy.frombuffer(content[8 + length + begin : 8 + length + end], DTYPES[entry["dtype"]])
    values = values.reshape(entry["shape"])
    print(name, values.size, float(values.astype(numpy.float64).sum()))
