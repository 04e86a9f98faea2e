"""The dialects: one row for each kind of endpoint that people have, as its provider documents it.

Bodies are those of the pages and threads that `source` names (2026-11-22); ids are left out, numbers fit the
test, and waits are shorter than in life. Where a page tells the status or the rule and no body, the words are
ours, and a comment says so. How a row is served stands in server.py.
"""

from tests.support.dialects.anthropic import ANTHROPIC
from tests.support.dialects.azure import AZURE
from tests.support.dialects.deepseek import DEEPSEEK
from tests.support.dialects.gateways import GATEWAYS
from tests.support.dialects.gemini import GEMINI
from tests.support.dialects.groq import GROQ
from tests.support.dialects.local import LOCAL
from tests.support.dialects.mistral import MISTRAL
from tests.support.dialects.openai import OPENAI
from tests.support.dialects.openrouter import OPENROUTER
from tests.support.dialects.together import TOGETHER

DIALECTS = (
    *OPENAI,
    *AZURE,
    *ANTHROPIC,
    *GEMINI,
    *MISTRAL,
    *GROQ,
    *OPENROUTER,
    *TOGETHER,
    *DEEPSEEK,
    *LOCAL,
    *GATEWAYS,
)
BY_NAME = {one.name: one for one in DIALECTS}
