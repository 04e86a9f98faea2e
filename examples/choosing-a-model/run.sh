#!/bin/sh
# All candidates on the same questions, then the two that matter side by side: 45 calls of the packaged model.
set -eu
cd "$(dirname "$0")"

# Every candidate on the same questions: how often right, how often no answer, and at what cost.
ragstone bench answerers --yes --force

# The model, and the candidate that asks none: a report of each, with every answer to read.
ragstone run --yes --force
ragstone run quote.toml --force

# Is the model better, question by question, and is that more than chance?
ragstone compare runs/quote runs/assistant
