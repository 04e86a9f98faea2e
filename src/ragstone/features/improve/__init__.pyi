"""What other features take of this one; each name is imported when it is first used."""

from .develop import draft_as_run as draft_as_run
from .draft_forms import DraftChecked as DraftChecked
from .draft_forms import DraftText as DraftText
from .draft_forms import Started as Started
from .draft_forms import check_draft as check_draft
from .draft_forms import check_length as check_length
from .draft_forms import messages_of as messages_of
from .judge_files import freeze as freeze
from .judge_files import judge_file as judge_file
from .judge_files import parse_draft as parse_draft
from .prompt_files import draft_prompt as draft_prompt
from .prompt_files import keep_prompt as keep_prompt
from .prompt_files import saved_prompt as saved_prompt
