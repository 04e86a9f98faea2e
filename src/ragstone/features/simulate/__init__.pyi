"""What other features take of this one; each name is imported when it is first used."""

from .conversations import UserPlan as UserPlan
from .conversations import conversation_notes as conversation_notes
from .conversations import conversation_rows as conversation_rows
from .conversations import forecast_users as forecast_users
from .conversations import n_conversations as n_conversations
from .conversations import plan_users as plan_users
from .goals import GoalSummary as GoalSummary
from .goals import summarise_goals as summarise_goals
from .log_likeness import Likeness as Likeness
from .log_likeness import likeness as likeness
from .words import conversations_document as conversations_document
