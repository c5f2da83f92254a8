"""What a ranking is: contests between algorithms, aggregation rules, ranks of scores."""
