#!/bin/sh
# Each component by itself, then all together: no language model is asked until ragstone.toml names one.
set -eu
cd "$(dirname "$0")"

# The retrievers.
ragstone bench retrievers --force

# Who answers: quoting with care or always; with a model also each prompt, given the right document, what was retrieved, or nothing.
ragstone bench answerers --yes --force

# The judges, against 24 labelled answers.
ragstone bench judges --yes --force

# All together, and where the lost points went.
ragstone run --yes --force
ragstone blame runs/lab --yes
