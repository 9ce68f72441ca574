"""What a simulation leaves: runs, searches, comparisons, regret, figures, and the page of a report.

comparison.py   several policies on one bandit or more, side by side: a table, paired differences, a picture
figures.py      plots
page.py         what goes into a report, and its rendering
rates.py        rates: the exponent a of y ∝ x^a, from two points, fitted to many, or fitted to runs that are resampled
regret.py       the paper's definitions of regret, from pulls, means and variances
runs.py         what a simulation leaves: per run and arm the pulls, mean and variance
saving.py       runs as a Parquet file: a row for each run and snapshot
searches.py     what searches for the best arm leave, and how they are judged
tails.py        how bad runs may be: shares of runs with exact intervals, and the mean of the worst
"""
