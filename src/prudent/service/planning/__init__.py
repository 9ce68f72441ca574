"""Plans in the browser: drafts, the form as a question, the queue, the process that computes, and the experiment."""
