#!/bin/sh
# Ten statements in seven languages, to be called true or false; 70 calls, if ragstone.toml names a model.
set -eu
cd "$(dirname "$0")"

# Finds the paragraph for each statement, asks the model whether it is true, and tells the languages apart.
ragstone bench languages --yes --force
