"""What `peers.py` compares with."""
