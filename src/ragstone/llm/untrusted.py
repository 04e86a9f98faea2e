"""Text from documents, answers and users, fenced so that it cannot speak to the model as we do.

The fence carries a nonce that its author cannot guess. It is keyed, not random: an HMAC of the row under
a secret of the project, so that the same row gives the same prompt, and the ledger and the provider's
prompt cache still hit.
"""

import hmac
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from ragstone.errors import ConfigError

NONCE_DIGITS = 10
SECRET_BYTES = 32

# How chat templates mark turns and ends. llama.cpp and others read them as such wherever they stand, so a
# text that holds them could end its own turn and speak as the system or the assistant.
CONTROL = re.compile(
    r"""<\s*[|｜][^|｜<>\n]{1,60}[|｜]?\s*>   # <|im_end|> <|eot_id|> <｜User｜>; Gemma 4: <|turn>
    | <[^|｜<>\s]{1,60}[|｜]>   # and <turn|>
    | </?(?:s|bos|eos|pad|unk|sop|eop|eod|(?:start|end)_of_turn|turn)>   # Llama, Gemma, GLM
    | \[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|THINK)\]   # Mistral
    | \[(?:[gs]?MASK|BOS|EOS|CLS|SEP|IMG|IMG_BREAK|IMG_END)\]
    | <</?SYS>>""",
    re.VERBOSE | re.IGNORECASE,
)


def load_secret(folder: Path) -> bytes:
    """Return the project's secret from `folder/secret`, made on first use. Raises ConfigError."""
    path = folder / "secret"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Written under another name and linked: two processes that start at once agree on one secret.
        draft = folder / f"secret.{os.getpid()}"
        if not path.exists():
            draft.write_text(secrets.token_hex(SECRET_BYTES))
            draft.chmod(0o600)
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        secret = bytes.fromhex(path.read_text())
    except ValueError:
        secret = b""
    except OSError as mistake:
        raise ConfigError(
            f"{path}: cannot be made or read ({mistake.strerror}). Work in a writable folder."
        ) from None
    if len(secret) < SECRET_BYTES:
        raise ConfigError(
            f"{path}: not a secret of Ragstone. Delete it; calls are then asked anew."
        ) from None
    return secret


def row_nonce(secret: bytes, parts: Iterable[str]) -> str:
    """Return the nonce of a row: ten hexadecimal digits (40 bits) that depend on all its parts."""
    digest = hmac.new(secret, digestmod="sha256")
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:NONCE_DIGITS]


def fence(name: str, text: str, nonce: str) -> str:
    """Return the text between delimiters that carry the nonce, its control tokens defused."""
    return f"<{name} {nonce}>\n{defuse(text)}\n</{name} {nonce}>"


def defuse(text: str) -> str:
    """Return the text with a space in each control token of a chat template: `< |im_end|>` ends no turn.

    It can be read as before. A text without such tokens is returned as it is.
    """
    return CONTROL.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)
