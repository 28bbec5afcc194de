"""The re-embedding agent: builds the warm index of a new embedding model behind the old one.

* A change of embedding model builds a second index behind the one that serves. A question carries
  the model that made its vector and is answered by that model's index only, also in the moment of
  the switch. Runtimes that share servers should be restarted together: one that is configured for
  the former model keeps writing to the former index.
"""
