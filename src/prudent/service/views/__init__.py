"""What is known of an experiment, for JSON, pages, reports and metrics.

amounts.py   amounts, differences and intervals as pages write them, with their units
answers.py   answers to what people ask of an experiment: how it stands, who leads, whether to stop
cache.py     the views of experiments that people and programs look at: however many look, a view is computed once
export.py    the decisions of an experiment as a file: CSV, lines of JSON, or Parquet
facts.py     what the page, the list and the report of an experiment say: numbers as text, sentences
replies.py   a view as the bodies of the API: the whole of an experiment, and what is known of its arms
view.py      an experiment as it was at an event, and what is known of it then: one object for JSON, pages
words.py     events of the log in words, for people
"""
