#!/bin/sh
# Imports all tables of a paper as one run, with what it states of the machines: studies/papers/import.sh nfs-2016
set -eu
if [ $# -ne 1 ]; then
    echo "usage: $0 PAPER" >&2
    exit 2
fi
folder=$(dirname "$0")/$1
paper=$1
set --
for table in "$folder"/*.csv; do
    set -- "$@" "$table" --roles "${table%.csv}.roles.yaml"
done
if [ -f "$folder/facts.yaml" ]; then
    set -- "$@" --facts "$folder/facts.yaml"
fi
assay import "$@" --study "$paper"
