"""Live experiments over HTTP: a log that is the truth, its state, two databases, and an API.

    request → queue → writer: one transaction for all that waits → answer

verbs.py      with which verbs people change an experiment, one row each
messages.py   what is asked and answered: the bodies of the API
problems.py   what can go wrong with a request
spec.py       what an experiment is
log/          the events, the state that they add up to, and the databases that keep both
work/         which events a request gives, and the one thread that writes them
views/        what is known of an experiment, for programs and for people
http/         from the bytes of a request to the verb, and back
pages/        pages for people
plans/        planning in the browser
"""
