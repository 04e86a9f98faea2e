"""What other features take of this one; each name is imported when it is first used."""

from .measured import benched_changes as benched_changes
from .suite.cards import SuiteCard as SuiteCard
from .suite.cards import known_cards as known_cards
