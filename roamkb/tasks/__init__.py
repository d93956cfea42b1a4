"""Tasks, the learnings relevant to a task, and whether shown learnings helped."""
