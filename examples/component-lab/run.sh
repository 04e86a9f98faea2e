#!/bin/sh
# Each component by itself, then all together: about 60 calls of the packaged model.
set -eu
cd "$(dirname "$0")"

# The retrievers: no language model is asked.
ragstone bench retrievers --force

# The answering model with each prompt, given the right document, what was retrieved, or nothing.
ragstone bench answerers --yes --force

# The judge with each of its prompts, against 24 labelled answers.
ragstone bench judges --yes --force

# All together, and where the lost points went.
ragstone run --yes --force
ragstone blame runs/lab --yes
