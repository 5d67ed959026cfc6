#!/bin/sh
# Imports all tables of a paper as one run, and rebuilds the paper: studies/papers/paper.sh nfs-2016 [-o OUTPUT.pdf]
set -eu
if [ $# -lt 1 ]; then
    echo "usage: $0 PAPER [-o OUTPUT.pdf] [--force]" >&2
    exit 2
fi
paper=$1
shift
"$(dirname "$0")/import.sh" "$paper"
case " $* " in *" -o "* | *" --output "*) ;; *) set -- -o "$paper.pdf" "$@" ;; esac
assay paper "$(dirname "$0")/$paper/PAPER.yaml" "$@"
