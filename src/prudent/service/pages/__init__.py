"""The pages of the service: what a person sees of the experiments, and what they can do about them.

app.py           the pages over HTTP: sign in with a token, look, and act
axes.py          axes of pictures: where their ticks are, and what is written there
charts.py        pictures as SVG: bars of shares, intervals on a common axis, and curves with names, bands and marks
demo.py          three simulated experiments with traffic, so that anybody can look around at once
experiment.py    all that the page of an experiment says
explore.py       explore: move arms, ρ, policy and horizon, and see regret, its parts
forecasting.py   the section about how an experiment may end, for its page and its report
listing.py       the list of experiments: a page of them at a time, by name, state, owner and date
parts.py         the parts of an experiment's page that say more than its numbers: alarms, health, other metrics
planning.py      plans in the browser: type or upload what is known, let the plan be computed, start the experiment
report.py        the report of an experiment, for whoever decides: one file that needs nothing else
settings.py      how somebody looks at an experiment: which axis, which period, which control
timeline.py      pictures over time, from the statistics that the follower keeps at ever longer distances
"""
