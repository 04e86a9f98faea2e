"""What other features take of this one; each name is imported when it is first used."""

from .kept_versions import FOLDER as FOLDER
from .kept_versions import versions as versions
from .starting import is_untouched as is_untouched
from .testing import prompts_of as prompts_of
