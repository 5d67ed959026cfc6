#!/bin/sh
# Imports all tables of a paper as one run, and writes its report: studies/papers/report.sh nfs-2016 [OUTPUT.html]
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 PAPER [OUTPUT.html]" >&2
    exit 2
fi
folder=$(dirname "$0")/$1
set -- "$1" "${2:-$1.html}"
paper=$1 output=$2
set --
for table in "$folder"/*.csv; do
    set -- "$@" "$table" --roles "${table%.csv}.roles.yaml"
done
assay import "$@" --study "$paper"
assay report "$paper" --output "$output"
