"""RecAssay: a fair benchmark of recommender algorithms, and what its numbers prove.

The verbs of the command line as functions (`recassay.load_results`, `recassay.rank`, ...). Importing the package
imports nothing heavy: `__init__.pyi` lists the names, and the module of each is imported when it is first used.
"""

import signal
import sys

_program = "".join(sys.argv[:1]).replace("\\", "/")
_is_command = _program.endswith(("/recassay", "/recassay.exe")) or (_program == "-m" and "recassay" in sys.orig_argv)
if _is_command and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while the command is loaded ends it without a traceback

import lazy_loader  # noqa: E402

from recassay.core.system.display import Teller, told_by  # noqa: E402

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _teller() -> Teller:
    from recassay.reporting import telling

    return telling


told_by(_teller)  # results stand below the room that puts them into words
