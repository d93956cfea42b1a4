"""The proof of the wall: lines of shell, run for real in a disposable HOME with each wall and with none.

`python -m tests.wall.run` prints the table; README.md beside this file says what the lines are.
"""
