"""Permission to write to the knowledge base: the rule file, the judgement and human consent."""
