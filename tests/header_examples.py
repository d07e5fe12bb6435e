#!/usr/bin/env python3
"""Compiles the code examples in the comments at the top of headers, so that they can be copied as they are.

An example is indented by four columns, after an empty line of the comment, and stands at namespace scope: functions that
use the header, preceded by #include lines for whatever else they need. This script compiles it inside the namespace of
its header.
Usage: tests/header_examples.py BUILD_FOLDER    (uses the compiler options of a test in compile_commands.json)
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PREAMBLE = """#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>
"""


def examples_of(text):
    """Examples in the comment that a header begins with: [(number of the first line, lines)]."""
    found, lines, after_empty = [], [], True
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("///"):
            break
        content = line[3:]
        if content.startswith("     ") and (lines or after_empty):
            if not lines:
                found.append((number, lines))
            lines.append(content[5:])
        elif lines and not content.strip():
            lines.append("")
        else:
            lines = []
        after_empty = not content.strip()
    return found


def translation_unit():
    includes, bodies = [], []
    for folder, prefix in (("include", "include/"), ("src", "src/")):
        for path in sorted((SOURCE / folder).rglob("*.h")):
            name = path.relative_to(SOURCE).as_posix()
            text = path.read_text(encoding="utf-8")
            for number, lines in examples_of(text):
                includes.append(f'#include "{name.removeprefix(prefix)}"')
                includes += [line for line in lines if line.startswith("#include")]
                namespace = re.search(r"^namespace (traffic[\w:]*) \{", text, re.MULTILINE).group(1)
                code = "\n".join("" if line.startswith("#include") else line for line in lines)
                bodies.append(f'namespace {namespace}::example_{len(bodies)} {{\n#line {number} "{path}"\n{code}\n}}')
    return len(bodies), PREAMBLE + "\n".join(includes) + "\n\n" + "\n\n".join(bodies) + "\n"


def compiler(build):
    """Returns the words of the command that compiles a test of the module train, and the folder in which it runs.

    Tests of train may include every header. The names of the input and output files are removed from the command.
    """
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        if any("/test_train.dir/" in word for word in words) and "cmake_pch" not in entry["file"]:
            break
    else:
        sys.exit(f"[examples] {build} compiles no test_train: configure it with tests")
    kept, skip = [], False
    for word in words:
        if skip or pathlib.Path(word).name == "ccache" or word in ("-c", "-Winvalid-pch"):
            skip = False
        elif word in ("-o", "-include"):
            skip = True
        elif word != entry["file"]:
            kept.append(word)
    return kept, entry["directory"]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: header_examples.py BUILD_FOLDER")
    build = pathlib.Path(sys.argv[1])
    count, text = translation_unit()
    unit = build / "header_examples.cpp"
    unit.write_text(text, encoding="utf-8")
    command, directory = compiler(build)
    result = subprocess.run([*command, "-w", "-fsyntax-only", str(unit)], cwd=directory, check=False)
    print(f"[examples] {count} examples {'compile' if result.returncode == 0 else 'do not compile'}")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
