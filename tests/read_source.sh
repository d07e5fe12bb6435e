#!/usr/bin/env bash
# Replaces the compiler in the preset `alone`, which tests/without_unity.sh uses. It only checks whether the compiler
# accepts a source file, and writes an empty object file, because ninja expects one. It does compile precompiled headers.
set -euo pipefail
case " $* " in *" -x c++-header "*) exec "$@" ;; esac
"$@" -fsyntax-only
while [ "$1" != -o ]; do shift; done
: >"$2"
