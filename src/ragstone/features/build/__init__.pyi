"""What other features take of this one; each name is imported when it is first used."""

from .certificate.counting import recount as recount
from .certificate.funnel import share_of as share_of
from .certificate.page import certificate_document as certificate_document
from .certificate.page import certified_blocks as certified_blocks
from .certificate.page import write_certificate as write_certificate
from .certificate.wording import headline as headline
from .certificate.wording import review_sentences as review_sentences
from .files import CERTIFICATE_PAGE as CERTIFICATE_PAGE
from .files import SIDES as SIDES
from .files import part_path as part_path
