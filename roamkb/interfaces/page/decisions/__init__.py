"""What a person decides on the page: forms, and the views that lead to them."""
