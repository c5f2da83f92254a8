"""Tables for classifiers: CSV, Parquet, ARFF, OpenML."""
