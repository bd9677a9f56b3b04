"""What adjudicators make of votes, as rows: beside the votes, which stay as they are."""
