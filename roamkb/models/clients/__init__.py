"""Clients that ask a language model one question, by a program or over HTTP."""
