"""What other features take of this one; each name is imported when it is first used."""

from .corrected_words import corrected_blocks as corrected_blocks
from .corrected_words import halving as halving
from .corrected_words import labelled_share as labelled_share
from .flips import Flips as Flips
from .found_cards import FoundCard as FoundCard
from .found_cards import project_cards as project_cards
from .gap_words import gap_lines as gap_lines
from .gap_words import labelled_again_lines as labelled_again_lines
from .gaps import gap_rows as gap_rows
from .gaps import spec_gaps as spec_gaps
from .pages import cards_of as cards_of
from .sequential_words import sequential_sentences as sequential_sentences
from .words import card_document as card_document
from .words import contained as contained
from .words import folded_card as folded_card
from .words import names as names
from .words import title as title
from .words import words_of_cards as words_of_cards
