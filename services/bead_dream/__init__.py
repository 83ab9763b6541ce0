"""The grooming job: reads what was said, proposes and tidies; never deletes, never overrules a person (I4)."""
