"""Plans in the browser: drafts, the form as a question, the queue, the process that computes, and the experiment.

computing.py    computes one plan: a job of a child process of the service, in a folder of its own
drafts.py       plans that people make in the browser: what they typed, the file they uploaded, and what was found
experiment.py   from a plan to an experiment
planner.py      computes the plans that wait, one at a time, in a process of its own that steps back behind the service
questions.py    from the fields of the form to what `prudent plan` is asked: options, outcome, ρ, lengths
"""
