#!/bin/sh
# All candidates on the same questions, then two of them side by side. No language model is asked until ragstone.toml names one.
set -eu
cd "$(dirname "$0")"

# Every candidate on the same questions: how often right, how often no answer, and at what cost.
ragstone bench answerers --yes --force

# What ships, and the function of our own: a report of each, with every answer to read.
ragstone run --yes --force
ragstone run quote.toml --force

# Is one better, question by question, and is that more than chance?
ragstone compare runs/quote runs/assistant
