#!/bin/sh
# Ten statements in seven languages, called true or false by a model: 70 calls of the packaged one.
set -eu
cd "$(dirname "$0")"

# Finds the paragraph for each statement, asks whether it is true, and tells the languages apart.
ragstone bench languages --yes --force
