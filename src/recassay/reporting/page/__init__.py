"""One self-contained page: top, parts, leaderboard, end."""
