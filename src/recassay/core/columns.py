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

RESULT_KEY = (ALGORITHM, DATASET, METRIC)
"""What names a cell of a results table."""

RESULT_REPLICATES = (SEED, FOLD)
"""Optional columns: repeated measurements of one cell."""
