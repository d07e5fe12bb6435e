#!/usr/bin/env bash
# Checks the hardening of built programs: position independent, read-only address tables, no executable stack, a stack
# guard, and checked functions of the C library. Usage: tests/hardening.sh BUILD
set -euo pipefail
build=$1
export LC_ALL=C
status=0 looked_at=0
bad() { echo "$1: $2 (cmake/TrafficTargets.cmake)"; status=1; }

for program in "$build"/bin/*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  looked_at=$((looked_at + 1))
  head=$(readelf --file-header --program-headers --dynamic --wide "$program")
  symbols=$(readelf --dyn-syms --wide "$program")
  [[ $head == *"Type: "*"DYN ("* ]] || bad "$program" "not position independent (-pie)"
  [[ $head == *GNU_RELRO* && $head == *BIND_NOW* ]] || bad "$program" "address tables stay writable (-z relro -z now)"
  grep -qE 'GNU_STACK .* RW +0x' <<<"$head" || bad "$program" "the stack is executable"
  [[ $symbols == *__stack_chk_fail* ]] || bad "$program" "no stack guard (-fstack-protector-strong)"
done
[ $looked_at -gt 0 ] || { echo "no programs in $build/bin"; exit 1; }
# The option -D_FORTIFY_SOURCE replaces functions of the C library by checked ones. Small programs may call none of them,
# so this part looks at traffic_train only.
checked=$(readelf --dyn-syms --wide "$build/bin/traffic_train" | grep -cE '__(mem|str|read|sn?printf|vsn?printf|fprintf)[a-z]*_chk' || true)
[ "$checked" -gt 0 ] || bad "$build/bin/traffic_train" "no checked function of the C library (-D_FORTIFY_SOURCE)"
# Some flags leave no trace in a program, so this part checks the compiler's command for every source file, except for
# files that protoc generates. It also leaves out tests: they are compiled with -O0, which disables -D_FORTIFY_SOURCE.
for flag in -fstack-clash-protection -fstack-protector-strong -D_FORTIFY_SOURCE=3; do
  without=$(grep '"command"' "$build/compile_commands.json" | grep -v -e _proto.dir -e ' -O0 ' | grep -vc -e "$flag" || true)
  [ "$without" = 0 ] || bad "$build/compile_commands.json" "$without sources without $flag"
done
unoptimised=$(grep '"command"' "$build/compile_commands.json" | grep -e ' -O0 ' | grep -vcE -e ' -o (tests/|CMakeFiles/traffic_(torch_)?test_pch)' || true)
[ "$unoptimised" = 0 ] || bad "$build/compile_commands.json" "$unoptimised sources of programs are not optimised"
if [ $status = 0 ]; then echo "$looked_at programs checked, $checked checked functions in traffic_train"; fi
exit $status
