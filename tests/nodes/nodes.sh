#!/usr/bin/env bash
# Creates several "nodes" on this machine: network namespaces with their own host names, connected by a switch (a
# bridge) over links (veth) with a given rate. mpirun starts its daemons on them through a launch agent, as it does
# through ssh.
#
#   nodes.sh run NODES SLOTS COMMAND...   creates node0, node1 ... with SLOTS slots for mpirun each; runs COMMAND on node0
#   nodes.sh on NODE COMMAND...           within COMMAND: runs a shell command on that node with a login environment
#   nodes.sh rate RATE                    sets the rate of all links, both ways, as for tc: 10gbit; none: no limit
#   nodes.sh cut NODE                     cuts the link of the node; nodes.sh join NODE restores it
#   nodes.sh processes NODE               prints the ids of all processes on the node
#   nodes.sh kill NODE                    sends SIGKILL to all processes on the node
#
# Environment variables of `run` that apply to every node except node0:
#   NODES_PRIVATE=FOLDER                  the node has a folder of its own in place of FOLDER
#   NODES_CLOCK_S=SECONDS                 the steady clocks of the node are ahead by this time
#   NODES_ENVIRONMENT="A=b ..."           environment variables of the programs on the node
#
# Everything is removed when COMMAND ends. The exit code is that of COMMAND, or 77 with one line if this user may not
# create namespaces.
set -euo pipefail
self=$(realpath "$0")

say() { printf '[nodes] %s\n' "$*" >&2; }
not_here() { say "skipped: $*"; exit 77; }

add_node() {  # NUMBER: node0 ... has 10.77.0.1 ...
  local name="node$1"
  touch "$NODES_DIR/net/$name" "$NODES_DIR/uts/$name"
  unshare --net="$NODES_DIR/net/$name" --uts="$NODES_DIR/uts/$name" hostname "$name"
  ip link add "$name" type veth peer name eth0 netns "$NODES_DIR/net/$name"
  ip link set "$name" master switch up
  nsenter --net="$NODES_DIR/net/$name" sh -c \
    "ip link set lo up && ip addr add 10.77.$(($1 / 250)).$(($1 % 250 + 1))/16 dev eth0 && ip link set eth0 up"
}

# Runs in new namespaces for network, host name, mounts and processes.
set_up() {
  local nodes=$1 slots=$2 i; shift 2
  mount -t tmpfs tmpfs "$NODES_DIR"
  mkdir "$NODES_DIR"/{net,uts}
  mount --bind "$NODES_DIR/net" "$NODES_DIR/net" && mount --make-private "$NODES_DIR/net"
  touch "$NODES_DIR/net/switch"
  mount --bind /proc/self/ns/net "$NODES_DIR/net/switch"
  ip link set lo up
  ip link add switch type bridge
  ip link set switch up
  for ((i = 0; i < nodes; ++i)); do
    add_node "$i"
    echo "node$i slots=$slots" >>"$NODES_DIR/hosts"
  done
  export OMPI_MCA_orte_default_hostfile="$NODES_DIR/hosts" OMPI_MCA_plm_rsh_agent="$self on"
  nsenter --net="$NODES_DIR/net/node0" --uts="$NODES_DIR/uts/node0" "$@" || exit $?
}

on_switch() { nsenter --net="$NODES_DIR/net/switch" "$@"; }
names() { cut -d ' ' -f 1 "$NODES_DIR/hosts"; }

# The burst size is the data that the link carries in a millisecond, but at least a few packets, because a burst is
# faster than the link.
set_rate() {
  local name burst=512kb
  case "$1" in
    *mbit) burst=$((${1%mbit} > 128 ? ${1%mbit} * 128 : 16384))b ;;
    1gbit) burst=128kb ;;
  esac
  for name in $(names); do
    if [ "$1" = none ]; then
      on_switch tc qdisc del dev "$name" root
      nsenter --net="$NODES_DIR/net/$name" tc qdisc del dev eth0 root
      continue
    fi
    on_switch tc qdisc replace dev "$name" root tbf rate "$1" burst "$burst" latency 20ms
    nsenter --net="$NODES_DIR/net/$name" tc qdisc replace dev eth0 root tbf rate "$1" burst "$burst" latency 20ms
  done
}

processes_of() {  # NODE
  local wanted pid
  wanted=$(stat -Lc %i "$NODES_DIR/net/$1")
  for pid in /proc/[0-9]*; do
    if [ "$(stat -Lc %i "$pid/ns/net" 2>/dev/null)" = "$wanted" ]; then echo "${pid#/proc/}"; fi
  done
}

command=${1:?}; shift
case "$command" in
  run)
    for tool in ip tc unshare nsenter; do command -v "$tool" >/dev/null || not_here "there is no $tool: ./launch/setup.sh --tests"; done
    options=(--net --uts --mount --pid --fork --kill-child --mount-proc)
    [ "$(id -u)" = 0 ] || options+=(--user --map-root-user)
    problem=$(unshare "${options[@]}" ip link add switch type bridge 2>&1) ||
      not_here "no network namespaces for this user: $problem"
    NODES_DIR=$(mktemp -d)
    export NODES_DIR
    code=0
    unshare "${options[@]}" "$self" set-up "$@" || code=$?
    rmdir "$NODES_DIR"
    exit "$code"
    ;;
  set-up) set_up "$@" ;;
  on)
    node=$1; shift
    cd /
    prefix=(nsenter --net="$NODES_DIR/net/$node" --uts="$NODES_DIR/uts/$node")
    if [ -n "${NODES_PRIVATE:-}" ]; then
      prefix+=(unshare --mount sh -c 'mount -t tmpfs tmpfs "$0" && exec "$@"' "$NODES_PRIVATE")
    fi
    if [ -n "${NODES_CLOCK_S:-}" ]; then
      prefix+=(unshare --time --fork --kill-child --monotonic "$NODES_CLOCK_S" --boottime "$NODES_CLOCK_S")
    fi
    read -ra environment <<<"${NODES_ENVIRONMENT:-}"
    exec env -i HOME="$HOME" PATH="$PATH" NODES_DIR="$NODES_DIR" "${prefix[@]}" env "${environment[@]}" sh -c "$*"
    ;;
  rate) set_rate "$1" ;;
  cut) on_switch ip link set "$1" down ;;
  join) on_switch ip link set "$1" up ;;
  processes) processes_of "$1" ;;
  kill)
    mapfile -t pids < <(processes_of "$1")
    kill -KILL "${pids[@]}"
    ;;
  *) say "unknown command $command"; exit 2 ;;
esac
