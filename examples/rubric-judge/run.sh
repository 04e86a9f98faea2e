#!/bin/sh
# Which scale, how many examples, which system: about 100 calls of the packaged model, two minutes.
set -eu
cd "$(dirname "$0")"

# Every scale and number of examples of the rubric, against people's verdicts on the same 24 answers.
ragstone bench judges --yes --force

# The four systems graded by the rubric, and the rubric's report card beside the grades. No call is made twice.
ragstone run --yes --force

# The whole report card as a page: agreement, confusion matrix, by system, the most instructive disagreements.
ragstone agree runs/grades/judgements.jsonl answers.jsonl --threshold grade=2 --threshold coverage=0.5 --page runs/grades/agreement.html
