"""How our results are presented: the sentences, tables and pictures of `analysis/WORD` stand in `WORD.py`."""
