"""Asking models for votes: what is asked, whom, and what came back. Votes are written by the catalog."""
