"""The numbers of the papers, computed anew from published tables: one file for each paper."""
