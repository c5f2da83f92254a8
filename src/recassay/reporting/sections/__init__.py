"""How our results are told: the sentences, tables and pictures of `analysis/WORD` stand in `WORD.py`."""
