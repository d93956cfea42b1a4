"""What a user can ask for: one verb a file, one public function, one result."""
