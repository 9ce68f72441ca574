"""What everything leans on: errors, texts, parameters, the registry, one way to write files and one to read CSV.

arrays.py        the array types of the package, and how input becomes an array
csv_cells.py     what a cell or a column of a CSV file holds: a number, a date, an id, nothing
csv_columns.py   one way to read a CSV file: as it was meant, or not at all
description.py   an object of a user as text, which is the same in every process: its class and its parameters
errors.py        the one error type users meet, and the checks that raise it
files.py         one way to write a file: all of it or nothing
json_text.py     JSON, for every command and file
memory.py        how much memory this machine has, and what needs more of it
own_classes.py   classes of the user's own in specs: `package.module:Class(…)` and `path/to/file.py:Class(…)`
parameters.py    parameters that many have in common: what each means, where it lies
registry.py      names for arms, risk measures, policies and strategies: `mv-lcb(c=1)`, `gaussian(1.0, 0.05)`
text.py          numbers and risk measures as people read them: in every table, sentence and page
"""
