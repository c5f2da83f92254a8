"""RecAssay: a fair benchmark of recommender algorithms, and what its numbers prove."""

__version__ = "0.1.0"
