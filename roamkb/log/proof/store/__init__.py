"""Lists of what is trusted, the search for who vouches, and the programs of git and ssh that it needs."""
