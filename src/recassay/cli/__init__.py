"""The command line: each command calls one function of `recassay.api`."""
