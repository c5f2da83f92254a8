"""The sentences that people read, made from the facts of results: a module for the word of each analysis."""
