"""A reading process that is none: tests of what is around it start sooner."""

import threading

from ragstone.kernel.corpus.file import ReadingLimits
from ragstone.kernel.corpus.parallel import Given, ReadingProcess
from ragstone.kernel.corpus.reading import read_file
from ragstone.kernel.files.file import File


class ReadHere(ReadingProcess):
    """Reads in this process, at once."""

    def read(
        self, file: File, limits: ReadingLimits | None = None, stop: threading.Event | None = None
    ) -> Given:
        return read_file(file, self._options)
