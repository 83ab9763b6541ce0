"""STATELESS: forwards model traffic, captures turns, splices memory in; its copy of conversations is disposable."""
