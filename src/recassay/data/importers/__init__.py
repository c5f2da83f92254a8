"""Results of other frameworks: a file for each, found by what stands in the file."""
