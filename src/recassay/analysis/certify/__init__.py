"""What a part of a multiverse settles about the whole: a certificate."""
