"""The certificate of an evaluation set as files: certificate.json, and certificate.html beside it."""

from pathlib import Path

import msgspec

from ragstone.dataset import Built
from ragstone.dataset.certificate import Certificate
from ragstone.report.certificate_page import render_certificate
from ragstone.report.html import put_page
from ragstone.report.numbers import read_numbers
from ragstone.tables import check_place

CERTIFICATE, CERTIFICATE_PAGE = "certificate.json", "certificate.html"


def write_certificate(
    folder: Path, certificate: Certificate, built: Built, *, force: bool = False
) -> list[Path]:
    """Write certificate.json and certificate.html into a folder, and return their paths.

    built: what the certificate is of; the page shows its questions. Raises DataError where one of the files
    exists and `force` is not given, or where it cannot be written.
    """
    numbers, page = folder / CERTIFICATE, folder / CERTIFICATE_PAGE
    for path in (numbers, page):
        check_place(path, force)
    put_page(numbers, msgspec.json.format(msgspec.json.encode(certificate), indent=2).decode() + "\n")
    put_page(page, render_certificate(certificate, built))
    return [numbers, page]


def read_certificate(path: Path) -> Certificate:
    """Return the certificate that a file, or a folder's certificate.json, holds. Raises DataError."""
    file = path / CERTIFICATE if path.is_dir() else path
    return read_numbers(file, Certificate, "certificate", "ragstone build questions")
