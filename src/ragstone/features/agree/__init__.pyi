"""What other features take of this one; each name is imported when it is first used."""

from .corrected_words import corrected_blocks as corrected_blocks
from .corrected_words import corrected_of as corrected_of
from .corrected_words import halving as halving
from .corrected_words import labelled_share as labelled_share
from .flips import Flips as Flips
from .flips import flips_of as flips_of
from .found_cards import FoundCard as FoundCard
from .found_cards import project_cards as project_cards
from .gap_words import flip_lines as flip_lines
from .gap_words import gap_evidence as gap_evidence
from .gap_words import gap_name as gap_name
from .gap_words import gaps_lead as gaps_lead
from .gap_words import row_grades as row_grades
from .gaps import GapRow as GapRow
from .gaps import SpecGaps as SpecGaps
from .gaps import spec_gaps as spec_gaps
from .pages import cards_of as cards_of
from .sequential_words import sequential_sentences as sequential_sentences
from .words import card_document as card_document
from .words import contained as contained
from .words import folded_card as folded_card
from .words import names as names
from .words import title as title
from .words import words_of_cards as words_of_cards
