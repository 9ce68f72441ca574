"""The report: one HTML file that needs nothing else, readable on a phone, on paper, in light and dark."""

from prudent.report.page import Finding as Finding
from prudent.report.page import Section as Section
from prudent.report.page import environment as environment
from prudent.report.page import render as render
