"""`[serve]`: how `ragstone serve` listens, and to whom."""

from typing import Annotated

import msgspec

from ragstone.config.section import Positive, Section


class ServeSection(Section, frozen=True, kw_only=True):
    """`[serve]`: address, keys and limits.

    keys_file: a file of `name = "key"` lines; who has none of these keys is refused. admin_keys: names of
    those who may change documents; all of them, where it is empty. requests_per_minute: of each key, or of
    each address without keys. cors_origins: sites whose pages may ask. keep_days: conversations in which
    nothing was said for so long are deleted. public_url: the address by which people reach the server through
    a proxy; the workbench then wants accounts, and its cookies are for https alone where this is https.
    trusted_proxies: addresses whose X-Forwarded-For is believed.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 8000
    keys_file: str | None = None
    admin_keys: list[str] = []
    requests_per_minute: Positive = 120
    max_question_kb: Positive = 32
    max_upload_mb: Positive = 50
    max_connections: Positive = 1000
    cors_origins: list[str] = []
    keep_days: Positive = 30
    public_url: Annotated[str, msgspec.Meta(pattern=r"^https?://[^/?#@\s]+/?$")] | None = None
    trusted_proxies: list[str] = msgspec.field(default_factory=lambda: ["127.0.0.1", "::1"])
