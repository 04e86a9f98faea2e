"""Personal data in texts -> placeholders that say what stood there."""

from ragstone.dataset.masking.text import KINDS, Masked, mask_personal_data, mask_texts
from ragstone.dataset.masking.words import OwnWords, own_words

__all__ = ["KINDS", "Masked", "OwnWords", "mask_personal_data", "mask_texts", "own_words"]
