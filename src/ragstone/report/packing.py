"""JSON -> what a page carries of it compressed: gzip in base64, whose characters end no script."""

import base64
import gzip

LEVEL = 4  # of rows like ours the higher levels save less than a twentieth, and take twice as long


def packed(json: bytes) -> bytes:
    """Return JSON as the page unpacks it (template/rows.js); the same bytes for the same JSON."""
    return base64.b64encode(gzip.compress(json, compresslevel=LEVEL, mtime=0))
