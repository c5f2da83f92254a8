"""Verbs that write what people read: the report, its page, and the files of a paper."""
