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

from typing import Any  # noqa: E402

import lazy_loader  # noqa: E402

from recassay.core.system.display import Teller, told_by  # noqa: E402

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _teller() -> Teller:
    from recassay.reporting import telling

    return telling


told_by(_teller)  # results stand below the room that puts them into words

_OLD = {
    "fit_beta_irt": ("recassay.api.beta_irt", "beta_irt", "recassay.beta_irt"),
    "fit_logistic_irt": ("recassay.api.logistic_irt", "logistic_irt", "recassay.logistic_irt"),
    "fit_user_irt": ("recassay.api.user_irt", "user_irt", "recassay.user_irt"),
} | {
    name: (module, name, f"{module}.{name}")
    for module, names in {
        "recassay.api.content": ("tell",),
        "recassay.api.decodirt": ("instances_document",),
        "recassay.api.evaluate": ("save_evaluation",),
        "recassay.api.reproduce": ("reproduction_page",),
        "recassay.api.saving": ("document", "save", "save_text"),
        "recassay.api.studies": ("adaptive_standing",),
        "recassay.api.tables": ("default_metric",),
        "recassay.core.system.plain": ("plain",),
        "recassay.reporting.section": ("Table",),
    }.items()
    for name in names
}
"""Names of the version before that still work: the module, the name there, and what to write instead."""


def __getattr__(name: str) -> Any:
    if name not in _OLD:
        return _load(name)
    import warnings
    from importlib import import_module

    module, attribute, now = _OLD[name]
    warnings.warn(f"recassay.{name} is now {now}; the old name goes with the next version", DeprecationWarning, 2)
    return getattr(import_module(module), attribute)
