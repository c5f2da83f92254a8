"""Lists and truth to numbers: one value per user, or one for the catalogue, with its convention on record."""
