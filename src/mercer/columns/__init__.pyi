from .kinds import KINDS as KINDS
from .kinds import Decided as Decided
from .kinds import check_kind as check_kind
from .kinds import decide as decide
from .values import are_molecules as are_molecules
from .values import dates as dates
from .values import text_units as text_units
