"""Every command: its line of help, its verb, and what the verb does not say of it."""

from __future__ import annotations

from recassay.cli.call import Command
from recassay.cli.program import Program, root_options
from recassay.cli.wording import name_commands

_LOG = "columns skip_bad_rows"
_FILE = "format delimiter header columns encoding time repeated event_weights skip_bad_rows"
_FILTER = "positive_threshold filter min_item_interactions min_user_interactions"
_SPLIT = f"split {_FILTER} ratios seed task target sessions allow_leakage"
_FOLDS = "folds fold final_fit"
_ADAPTIVE = "adaptive target confidence indifference budget probes prior"
_ALONE = "study.studies:make_study split positive_threshold"
_MATRIX = "experts similarities definitions fourth"
_OTHER_STUDY = "name parallel tuning_metric seconds_per_cell memory_gb settings dataset_settings comper multiverse base"
_CELLS = "target confidence indifference budget prior characteristics"
_GLICKO = "order properties tau tie orders"

DATA = Program(
    "data",
    "Import, list, describe, fetch and remove datasets.",
    {
        "Commands": [
            Command(
                "import", "Read a file and keep it under a name.", "source", "data:import_data", show="data:imported",
                fields={"read": "*"}, names={"format": "--format --from"}, sections={"Reading the file": _FILE},
            ),
            Command("list", "The stored datasets.", "", "data:list_data", show="data:listed"),
            Command(
                "describe", "A dataset at a glance; --split shows a split and its leakage audit.", "source",
                "data:describe_data", show="data:described", fields={"read": "*", "protocol": _SPLIT},
                names={"format": "--format --from"}, sections={"Splitting": _SPLIT, "Reading the file": _FILE},
            ),
            Command(
                "fetch", "Download a dataset of the catalogue, verified and resumable.", "name", "data:fetch_data",
                show="data:fetched",
            ),
            Command("remove", "Forget a stored dataset.", "name", "data:remove_data", show="data:removed"),
        ]
    },
)  # fmt: skip

IRT = Program(
    "irt",
    "Item response theory: ability, difficulty, discrimination.",
    {
        "Commands": [
            Command(
                "beta", "Algorithms and datasets of a results table.", verbs="beta_irt:beta_irt", saved_as="irt",
            ),
            Command(
                "logistic", "Respondents and items of a binary response table.", "responses",
                "logistic_irt:logistic_irt", "special:logistic_irt", without="tolerance max_cycles", saved_as="irt",
            ),
            Command(
                "users", "Algorithms and the users, or test instances, that they serve.", "folder", "user_irt:user_irt",
                "special:user_irt", names={"datasets": "--dataset --datasets"}, saved_as="user_irt",
            ),
            Command(
                "instances", "Classifiers and test instances: a folder of response tables.", "instances",
                "decodirt:analyze_instances", "special:instances", without="items_from max_cycles", saved_as="decodirt",
            ),
        ]
    },
)  # fmt: skip

BOARD = Program(
    "board",
    "Check what others hand in (bench --bundle), and show it on a page of boards.",
    {
        "Commands": [
            Command("add", "Check a bundle, and put it into the folder of a board.", "bundle", "board:add_bundle",
                    show="studies:board_added"),
            Command("build", "The page of the boards and of a folder of bundles.", "folder", "board:build_board",
                    show="studies:board_built"),
        ]
    },
)  # fmt: skip

SECTIONS: dict[str, list[Command | Program]] = {
    "Start": [
        Command("analyze", "Everything about a results table or a study; --out saves the report.",
                verbs="publish.analyze:analyze", show="analyze:analyze", without="replicates", out="place"),
        Command("demo", "A whole study on embedded data: no network needed.", "", show="analyze:demo",
                without="datasets algorithms seed"),
        Command("list", "What is available, plugins included.", "[kind] [dataset]", "installation:list_available",
                show="installation:available"),
        Command("doctor", "Check this installation.", "", "installation:doctor", show="installation:checked"),
    ],
    "Judge results": [
        Command("rank", "Rank algorithms under every aggregation.", show="on_table:claimed on_table:answer",
                names={"metric": "-m --metric", "metrics": "--metrics"}),
        Command("compare", "Test which differences are significant.",
                show="on_table:compared on_table:claimed on_table:answer"),
        Command("plan", "How many more datasets, seeds or users would show a difference?",
                verbs="plan:plan adaptive:adaptive", computes="special:plan", sections={"With --cells": _CELLS},
                without="results_or_runner rho algorithms datasets classes workers probe probe_ratio",
                other_answers={"cells": "adaptive"}),
        Command("multiverse", "Which claims survive other splits, metrics, seeds?",
                verbs="multiverse:multiverse certify:certify", computes="special:multiverse",
                without="wide transpose columns dataset format prefer", names={"claims": "--claim --claims"},
                sections={"With --certify": "confidence"}, other_answers={"certify": "certify"}),
        Command("model", "Which algorithm is best for datasets like these, and how sure is that?"),
        Command("users", "Test over the users of each dataset; one dataset is enough.",
                without="wide transpose columns"),
        Command("stress", "Which conclusions survive fewer datasets or other algorithms?"),
        Command("strata", "Does the order hold on less popular items?", "folder", "strata:strata", "special:strata",
                without="train test lists read allow_leakage task confidence"),
        Command("ratings", "Ratings: Bradley-Terry, or --method glicko.", verbs="ratings:ratings glicko:glicko",
                computes="special:ratings", sections={"With --method glicko": _GLICKO}),
        IRT,
        Command("comper", "One score out of accuracy, coverage, diversity, robustness and time.", "[results...]",
                "comper:comper comper:comper_matrix tables:load_results", "special:comper",
                without="source metric wide transpose",
                sections={"Deriving the matrix": f"derive_matrix {_MATRIX}"}),
        Command("select", "Choose few datasets that keep the ranking of all.", "[results...]",
                "select:select tables:load_results", without="splits curve source",
                names={"methods": "--method --methods"}, saved_as="selection"),
    ],
    "Run studies": [
        Command("run", "Run a study, or resume it.", "[study]",
                "study.studies:run study.studies:make_study", show="classify:run",
                without=_OTHER_STUDY, names={"folder": "-o --out"}, fields={"protocol": "split positive_threshold"},
                sections={"Adaptive runs": _ADAPTIVE, "A study without a file": _ALONE}),
        Command("status", "How far a study is, and where an adaptive run stands.", "folder", "study.studies:status",
                show="studies:status"),
        Command("check", "Does your algorithm keep the rules? Tried on a small dataset.", "algorithm",
                "study.check:check", show="installation:ready", names={"every": "--all"}),
        Command("bench", "Your algorithm among the tuned baselines of the open benchmark.", "algorithm",
                "study.bench:bench", computes="special:bench", out="place",
                names={"folder": "--study", "trial": "--try"}),
        Command("results", "Print or export every number of a study.", "folder", show="results:results", out="file"),
        Command("serve", "Watch a study live in the browser.", "folder", "study.serve:serve", show="studies:serve"),
        Command("advise", "Which algorithms to try first on your dataset.", "dataset",
                "advise:advise tables:load_results", show="on_table:advise on_table:answer",
                computes="on_table:advised", without="source confidence dataset", names={"results": "--results"},
                fields={"protocol": _FILTER, "read": _LOG}, saved_as="advice"),
    ],
    "Publish": [
        Command("paper", "Tables, figures, setup and references for a paper.", verbs="publish.paper:paper",
                show="analyze:paper",
                without="replicates metric"),
        Command("seal", "Fix the plan of a study before its results exist.", "study", "study.seal:seal",
                show="studies:sealed", out="file",
                names={"claims": "--claim --claims"}),
        Command("verify", "Check a study against its seal, or by running cells again.", "study",
                "study.seal:verify study.checklist:checklist", show="studies:verified", out="file"),
        Command("review", "Check the tables and claims of a paper from its LaTeX source.", "source",
                show="review:reviewed", out="file"),
        BOARD,
        Command("reproduce", "Every number of the papers that follows from public data.", "[paper...]",
                show="special:reproduce"),
    ],
    "Data": [
        DATA,
        Command("import", "Results of other tools and tables of papers as one table.",
                "source...", "import_results:import_results tables:load_results", show="results:import_", out="file"),
        Command("evaluate", "Judge lists made elsewhere, user by user; --compare tests between them.",
                "recommendations...", show="evaluate:evaluate", out="place", fields={"read": _LOG},
                sections={"Reading the interactions": _LOG}),
        Command("recommend", "Fit the chosen algorithm on all data and write lists for its users.", "source",
                show="recommend:recommend", out="file", without="settings", names={"k": "-k --k"},
                fields={"read": _LOG}, sections={"Reading the interactions": _LOG}),
        Command("split", "Write the split of a study, audited and named, to train elsewhere.", "source",
                show="evaluate:split", fields={"protocol": f"{_SPLIT} {_FOLDS}", "read": "repeated"},
                sections={"Splitting": f"{_SPLIT} {_FOLDS} repeated"}),
    ],
}  # fmt: skip
"""What `recassay help --all` lists, by what people come for."""

FRONT = (
    "analyze demo list rank compare plan multiverse run status check bench paper review seal verify data import "
    "evaluate recommend"
)
"""What `recassay --help` lists: at most 20."""

FOLDED = {
    "adaptive": "plan --cells",
    "certify": "multiverse --certify",
    "checklist": "verify --checklist",
    "classify": "run",
}
"""By a name that was given up, what to type instead."""

PROGRAM = Program(
    "recassay",
    "Assay recommender algorithms: which is best over many datasets, and is that proven or luck?",
    SECTIONS,
    front=FRONT,
    folded=FOLDED,
    params=root_options(),
)

name_commands(
    FOLDED
    | {
        place.partition(":")[2]: " ".join(filter(None, [group, command.name]))
        for group, program in (("", PROGRAM), ("data", DATA), ("irt", IRT), ("board", BOARD))
        for command in program.known.values()
        if isinstance(command, Command)
        for place in command.places[:1]
    }
)
