#!/bin/sh
# All candidates on the same questions, then the two that matter side by side: 30 calls of the packaged model.
set -eu
cd "$(dirname "$0")"

# Every candidate on the same questions: how often right, how often no answer, and at what cost.
ragstone bench answerers --yes --force

# The small model, and the larger one whose answers are in the folder: every answer to read, with its passages and scores.
ragstone run --yes --force
ragstone run larger.toml --force

# Is the larger one better, question by question, and is that more than chance?
ragstone compare runs/assistant runs/larger
