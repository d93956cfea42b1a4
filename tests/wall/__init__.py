"""The proof of the wall: lines of shell, run for real in a disposable HOME with each wall and with none.

`lines` holds them, `cage` what keeps them off this machine, `house` a person's HOME; `trial` runs a line and says what
became of the notes, `sameness` whether it gave the same with and without, `advice` what the hook said before.
`python -m tests.wall.run` prints the table, `python -m tests.wall.projects` tries the test suites of real projects.
"""
