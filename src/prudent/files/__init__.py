"""What touches the disk: one way to write a file, one way to read a CSV file."""

from prudent.files.columns import read_columns as read_columns
from prudent.files.columns import read_groups as read_groups
from prudent.files.columns import read_header as read_header
from prudent.files.columns import read_rows as read_rows
from prudent.files.writing import write as write
