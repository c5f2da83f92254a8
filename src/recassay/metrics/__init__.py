"""Lists and truth to numbers: a value a user, or one for the catalogue, with its convention on record."""
