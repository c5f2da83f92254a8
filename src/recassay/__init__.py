"""RecAssay: a fair benchmark of recommender algorithms, and what its numbers prove.

The verbs of the command line as functions (`recassay.load_results`, `recassay.rank`, ...). Importing the package
imports nothing heavy: `__init__.pyi` lists the names, and the module of each is imported when it is first used.
"""

import lazy_loader

from recassay.core.system.display import Teller, told_by

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _teller() -> Teller:
    from recassay.reporting import telling

    return telling


told_by(_teller)  # results stand below the room that puts them into words
