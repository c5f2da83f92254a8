"""What more would have to be run to know more."""
