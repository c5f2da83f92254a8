"""The numbers of the papers, computed again from published tables: one file for each paper."""
