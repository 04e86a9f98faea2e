"""What the assistant gives, by name. Each is documented where it is defined."""

from .assistant import Assistant as Assistant
from .assistant import open_assistant as open_assistant
from .building import build_knowledge as build_knowledge
from .conversation import Asked as Asked
from .conversation import Citation as Citation
from .conversation import Passage as Passage
from .conversation import Said as Said
