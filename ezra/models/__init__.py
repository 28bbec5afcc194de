"""Language models: without a key, at Gemini, and at any OpenAI-compatible server.

Importing this loads no client library; that happens when a provider's model is opened.
"""

from .answers import TokenUsage
from .gemini import GeminiModel
from .local import EchoModel, ScriptedModel
from .openai_compatible import OpenAIModel

__all__ = ["EchoModel", "GeminiModel", "OpenAIModel", "ScriptedModel", "TokenUsage"]
