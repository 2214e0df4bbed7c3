"""From a proof to text: groups, plans and their repair, edits, validation, and the transaction that writes."""
