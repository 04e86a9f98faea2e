"""A certificate that was written -> what a reader of it, or of a run over its questions, is told."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ragstone.dataset.certifying.certificate import Certificate, Fit, fit
from ragstone.records import Question
from ragstone.report.summary import read_numbers

CERTIFICATE = "certificate.json"


class Certified(msgspec.Struct, frozen=True):
    """The certificate of a run's questions, and how far it speaks of them."""

    certificate: Certificate
    fit: Fit


def read_certificate(path: Path) -> Certificate:
    """Return the certificate that a file, or a folder's certificate.json, holds. Raises DataError."""
    file = path / CERTIFICATE if path.is_dir() else path
    return read_numbers(file, Certificate, "certificate", "ragstone build questions")


def certified_in(folder: Path, questions: Iterable[Question]) -> Certified | None:
    """Return the certificate of a run's folder, None without one or without questions. Raises DataError."""
    asked = list(questions)
    if not asked or not (folder / CERTIFICATE).is_file():
        return None
    certificate = read_certificate(folder)
    return Certified(certificate, fit(certificate, asked))
