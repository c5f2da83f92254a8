"""The only place where the name of a column is written."""

ALGORITHM = "algorithm"
DATASET = "dataset"
METRIC = "metric"
VALUE = "value"
SEED = "seed"
FOLD = "fold"
USER = "user"
ITEM = "item"
RATING = "rating"
TIMESTAMP = "timestamp"
SCORE = "score"
RANK = "rank"
EVENT = "event"
DEVIATION = "deviation"
RUNS = "runs"
FRAMEWORK = "framework"
VERSION = "version"
CONVENTION = "convention"
PROTOCOL = "protocol"
HIGHER_IS_BETTER = "higher_is_better"
SOURCE = "source"

RESULT_KEY = (ALGORITHM, DATASET, METRIC)
"""What names a cell of a results table."""

RESULT_REPLICATES = (SEED, FOLD)
"""Optional columns: repeated measurements of one cell."""

RESULT_DETAILS = (DEVIATION, RUNS, FRAMEWORK, VERSION, CONVENTION, PROTOCOL, HIGHER_IS_BETTER, SOURCE)
"""Optional columns: what is known of a value besides itself.

`deviation` is the standard deviation stated beside the value and `runs` how many measurements it is of; `framework` and
`version` made it; `convention` is how that framework computes the metric, `protocol` how it split the data, each in
words or as a fingerprint; `higher_is_better` where the file said it; `source` is the file it came from.
"""
