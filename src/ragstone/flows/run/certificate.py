"""The certificate of a run's questions: from beside their file into the run's folder."""

from pathlib import Path

from ragstone.config import Settings
from ragstone.errors import DataError
from ragstone.report.run import CERTIFICATE, read_certificate


def copy_certificate(settings: Settings, folder: Path) -> list[str]:
    """Copy certificate.json from beside `[questions] path` into a run's folder, and return notes.

    One that an earlier run left in the folder goes where there is none now. One that cannot be understood is
    not copied, and noted: no run fails for it.
    """
    copy = folder / CERTIFICATE
    source = settings.path(settings.questions.path or "").parent / CERTIFICATE
    if source.resolve() == copy.resolve():
        return []
    copy.unlink(missing_ok=True)
    if not settings.questions.path or not source.is_file():
        return []
    try:
        read_certificate(source)
    except DataError as mistake:
        return [f"The certificate beside the questions is not shown. {mistake}"]
    copy.write_bytes(source.read_bytes())
    return []
