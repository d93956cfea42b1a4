"""Who may write to the knowledge base: the rule file, the judgement and the human's word."""
