"""The numbers of the papers, computed again from published tables: the KDD 2024 paper, and the others."""
