#!/usr/bin/env bash
# Launcher of the compiler in the preset `alone`: reads a source as it would be compiled and leaves an empty object, for
# ninja to know. Headers are precompiled for real.
set -euo pipefail
case " $* " in *" -x c++-header "*) exec "$@" ;; esac
"$@" -fsyntax-only
while [ "$1" != -o ]; do shift; done
: >"$2"
