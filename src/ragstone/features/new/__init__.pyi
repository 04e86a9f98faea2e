"""What other features take of this one; each name is imported when it is first used."""

from .default_model import PACKAGED as PACKAGED
from .default_model import endpoint_model as endpoint_model
from .starter import copy_starter as copy_starter
from .starter import starter_settings as starter_settings
