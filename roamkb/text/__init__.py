"""Words, stems and languages of texts."""
