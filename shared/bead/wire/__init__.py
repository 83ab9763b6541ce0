"""The bus contract: requests and answers as models. pydantic for people's routes, msgspec for the three hot ones."""
