"""What other features take of this one; each name is imported when it is first used."""

from .command import run_and_show as run_and_show
from .pipeline import forecast_run as forecast_run
from .pipeline import run as run
