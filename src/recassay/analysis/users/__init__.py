"""Which algorithms differ on the users of a dataset, and what that adds up to over datasets."""
