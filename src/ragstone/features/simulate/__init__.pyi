"""What other features take of this one; each name is imported when it is first used."""

from .conversations import forecast_users as forecast_users
from .conversations import plan_users as plan_users
from .conversing import converse_to_file as converse_to_file
from .goals import GoalSummary as GoalSummary
from .log_likeness import Likeness as Likeness
from .words import conversations_document as conversations_document
