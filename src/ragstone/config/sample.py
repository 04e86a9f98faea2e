"""`[sample]`: how questions are taken from a log.

```toml
[sample]
mask = ["Blue Falcon", "/KD-\\\\d{6}/"]
```
"""

from ragstone.config.section import Section


class SampleSection(Section, frozen=True, kw_only=True):
    """`[sample]`: what is masked besides personal data.

    mask: words, whole and in any case; one between slashes is a regular expression.
    """

    mask: list[str] = []
