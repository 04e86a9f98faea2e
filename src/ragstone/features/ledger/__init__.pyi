"""What a program does with the ledger, as the command does; each name is imported when it is first used."""

from ._account import read_account as read_account
from ._archive import choose_responses as choose_responses
from ._archive import export_responses as export_responses
from ._archive import import_responses as import_responses
from ._archive import prune_responses as prune_responses
