"""One question to a language model: by a program or over HTTP."""
