#!/bin/sh
# Run once by root on the head node when it is configured. Its argument is a folder of S3 with Assay's wheel.
# /home is exported by the head node: what is installed there is on all nodes.
set -eu
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y python3-venv
mkdir -p /tmp/assay
aws s3 cp --recursive --exclude '*' --include 'assay-*.whl' "$1" /tmp/assay
python3 -I -m venv /home/assay
/home/assay/bin/pip install --quiet /tmp/assay/assay-*_"$(uname -m)".whl
ln -sf /home/assay/bin/assay /usr/local/bin/assay
# Everybody may have a directory here; Assay makes and marks its own in it.
install -d -m 1777 /fsx/tests
