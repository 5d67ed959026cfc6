#!/bin/sh
# Imports all tables of a paper as one run, and writes its report: studies/papers/report.sh nfs-2016 [OUTPUT.html]
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 PAPER [OUTPUT.html]" >&2
    exit 2
fi
"$(dirname "$0")/import.sh" "$1"
assay report "$1" --output "${2:-$1.html}"
