#!/bin/sh
# A race between candidates, then the two that matter side by side.
set -eu
cd "$(dirname "$0")"

# Every candidate on the same questions, in rounds; who is worse beyond doubt stops early.
ragstone bench answerers --yes --force
