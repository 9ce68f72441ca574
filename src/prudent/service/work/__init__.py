"""What requests do to experiments: one table of verbs, one writer, and what goes on beside it.

batches.py       many decisions at once: how a batch is divided over the arms, and its rewards as merged statistics
changes.py       changes of an experiment by people, and what clients did by themselves
children.py      computations for callers: each in a process of its own, with an end
clocks.py        the clock of the service, and what can be known of whether it is right
decisions.py     decisions and their rewards, one by one: checks first, then events
forecasts.py     forecasts of experiments, made beside everything else: whoever asks gets the last one
jobs.py          what a child process of the service computes: `python -m prudent.service.work.jobs NICE`
journal.py       what the service writes about itself: one line for what happens
outbox.py        tells targets of webhooks what happens, from the log and where each has come to in it
post.py          one message to one receiver: signed, to an address that may be reached, within a deadline
service.py       the service: commands from many threads and event loops, one writer, and what goes on beside it
transaction.py   the part of a transaction that belongs to one experiment: the requests, what they speak of
watch.py         what happens by itself: windows close
writer.py        the one place that writes: it takes all commands that wait, carries them out in one transaction
"""
