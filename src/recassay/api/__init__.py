"""The verbs of the command line as functions, one file per verb; `recassay` offers them."""
