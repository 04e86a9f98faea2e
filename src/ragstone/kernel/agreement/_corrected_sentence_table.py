"""What a corrected mean may say: beside the value, which says it in words."""

from ragstone.kernel.agreement.corrected_mean import SENTENCES as SENTENCES
