"""Notes as HTML: an org text's elements and objects, with everything unknown as text."""
