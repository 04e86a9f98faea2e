"""What keeps the assistant to its documents and its scope."""

from ragstone.assistant.guards.contacts import without_contacts
from ragstone.assistant.guards.instructions import speaks_to_model, without_instructions
from ragstone.assistant.guards.pesticides import ingredients_in, names_pesticide
from ragstone.assistant.guards.scope import InScope, scope_guard

__all__ = [
    "InScope",
    "ingredients_in",
    "names_pesticide",
    "scope_guard",
    "speaks_to_model",
    "without_contacts",
    "without_instructions",
]
