"""Beta item response theory in two directions."""
