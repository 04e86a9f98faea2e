"""The certificate of an evaluation set as files: certificate.json, and certificate.html beside it."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.dataset.candidate import Candidate
from ragstone.dataset.certifying.certificate import Certificate
from ragstone.report.certificate_page import render_certificate
from ragstone.report.certified import CERTIFICATE
from ragstone.report.render.html import put_page
from ragstone.tables import check_place

CERTIFICATE_PAGE = "certificate.html"


def write_certificate(
    folder: Path, certificate: Certificate, candidates: Sequence[Candidate], *, force: bool = False
) -> list[Path]:
    """Write certificate.json and certificate.html into a folder, and return their paths.

    candidates: what the certificate is of, which the page shows. Raises DataError where one of the files
    exists and `force` is not given, or where it cannot be written.
    """
    numbers, page = folder / CERTIFICATE, folder / CERTIFICATE_PAGE
    for path in (numbers, page):
        check_place(path, force)
    put_page(numbers, msgspec.json.format(msgspec.json.encode(certificate), indent=2).decode() + "\n")
    put_page(page, render_certificate(certificate, candidates))
    return [numbers, page]
