"""Texts that give orders to whoever reads a memory: what they look like. Pure.

Every repetition is bounded, so that a search takes time in proportion to the text. A pattern is
tried only where one of its cues stands in the text as a word.
"""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE | re.MULTILINE

_RULES = (
    r"(?:instructions?|prompts?|rules|directives?|guidelines?|guardrails?|polic(?:y|ies)"
    r"|restrictions?|constraints?|programming|orders)"
)
_AS_ORDER = (
    r"(?:^|[.!?:;,=\n\"'(>\]*\-]\s{0,3}|\b(?:please|kindly|now|and|then|must|should|just|also"
    r"|so|you"
    r"|assistants?|ai|models?|agents?|(?:have|need|required|instructed|ordered) to)\s{1,3})"
)
_OLD = (
    r"(?:previous|prior|earlier|former|preceding|above|original|initial|system|your|developer"
    r"|operator(?:'s)?|safety|existing|current|all|any|every)"
)
_ENDED = r"(?:no longer|outdated|obsolete|void|invalid|suspended|have changed|has changed|revoked)"
_MACHINE = r"(?:assistants?|a\.?i\.?s?|ai agents?|chat ?bots?|bots?|llms?|language models?)"
_SECRETLY = r"(?:silently|secretly|without (?:telling|asking|informing))"

OVERRIDE = re.compile(
    rf"{_AS_ORDER}(?:ignore|disregard|forget|override|bypass|drop|discard|abandon|stop following"
    r"|(?:do not|don['\u2019]t|never) (?:follow|obey)|(?:pay no attention|take no notice) (?:to"
    r"|of))\s"
    rf"(?:[^.!?\n]{{0,30}}\s)?{_OLD}\s[^.!?\n]{{0,30}}\b{_RULES}\b"
    rf"|{_AS_ORDER}(?:ignore|disregard|forget|override|bypass|stop following)\s[^.!?\n]{{0,30}}"
    rf"\b{_RULES}\b[^.!?\n]{{0,12}}\b(?:above|before|given|you were)\b"
    r"|\b(?:ignore|disregard|forget) (?:everything|anything|all|whatever)[^.!?\n]{0,12} "
    r"(?:you (?:were|have been|know|learn)|above|before this|the (?:user|operator))"
    rf"|\byour [^.!?\n]{{0,20}}\b{_RULES} [^.!?\n]{{0,20}}\b{_ENDED}\b"
    rf"|\b{_RULES} above (?:are|is) {_ENDED}"
    r"|\bnew (?:system )?(?:instructions?|directives?|prompt)\s{0,3}:"
    r"|\byou are now (?:in |an? |the )?(?:developer|debug|god|admin|dan|unrestricted|unfiltered"
    r"|jailbroken|free of)\b"
    r"|\bact as (?:an? )?(?:unrestricted|unfiltered|uncensored|jailbroken)\b"
    r"|\bpretend (?:that )?you (?:have|had) no (?:restrictions|rules|limits|filters)\b"
    r"|\b(?:safety|content) (?:rules|filters|polic(?:y|ies)) (?:do not|don['\u2019]t"
    r"|no longer) apply"
    rf"|\b{_RULES} (?:in|of) this [^.!?\n]{{0,20}} (?:take|takes|have) (?:precedence|priority)"
    r"|\bfrom here on,? you (?:obey|follow|serve)\b|\byou (?:only |now )?(?:take orders from"
    r"|obey only)\b"
    rf"|\b(?:attention|dear|note to|message to|warning to)[,:]? (?:all |any |the )?{_MACHINE}\b"
    # The same in German, French, Spanish and Italian.
    r"|\b(?:ignorier\w*|vergiss|missachte)\b[^.!?\n]{0,40}\b(?:anweisungen|regeln|vorgaben)\b"
    r"|\b(?:ignore[zrs]?|oublie[zrs]?)\b[^.!?\n]{0,40}\b(?:instructions|consignes|r\u00e8gles)"
    r" (?:pr\u00e9c\u00e9dentes|ant\u00e9rieures)"
    r"|\b(?:ignora|olvida)\b[^.!?\n]{0,40}\b(?:instrucciones|reglas|istruzioni|regole)\b",
    _FLAGS,
)
OVERRIDE_CUES = frozenset(
    "ignore disregard forget override bypass drop discard abandon stop follow obey attention "
    "notice your rules instructions instruction directives directive prompt developer debug god "
    "admin dan unrestricted unfiltered uncensored jailbroken pretend safety content dear note "
    "message warning ignoriere ignorieren vergiss missachte ignorez oubliez ignora olvida orders "
    "policy".split()
)

ORDER = re.compile(
    r"\b(?:from now on|from today on|going forward|henceforth|in (?:all |every |any )?(?:future"
    r"|later)"
    r" (?:conversations?|chats?|sessions?|answers?|replies)|(?:every time|whenever) (?:you are|"
    r"you['\u2019]re|the user|somebody|someone|anyone"
    r"|prices?)[^.!?\n]{0,40})[^.!?\n]{0,40}\b(?:always|"
    r"never|must|recommend|answer|reply|respond|say|mention|tell|treat|obey|trust|name|present"
    r"|rate)\b"
    rf"|\b{_MACHINE}(?: (?:reading|that reads?) this \w{{1,12}})?\s{{1,3}}(?:must|should|shall"
    rf"|has to|have to|"
    r"needs? to|ought to|always|never|will always|will never|may never)\b"
    rf"|\bif you are an? {_MACHINE}\b|\b{_MACHINE}\s{{0,3}}[:,]\s{{0,3}}(?:always|never|store|save|"
    r"remember|add|do not|don['\u2019]t)\b"
    r"|\b(?:remember|memori[sz]e) (?:this )?(?:permanently|forever)\s{0,3}[:,]"
    r"|\b(?:save|store|add|write|keep)\b[^.!?\n]{0,30}\b(?:to|in|into) (?:your |the )?"
    r"(?:long[- ]term |permanent )?memory\s{0,3}(?::|that\b)"
    r"|\byou must (?:always|never)\b[^.!?\n]{0,60}\b(?:user|recommend|mention|answer|tell)\b"
    r"|\bnever (?:again )?(?:ask|tell|warn|inform) the user\b",
    _FLAGS,
)
ORDER_CUES = frozenset(
    "now forward henceforth future later whenever every assistant assistants ai bot bots chatbot "
    "chatbots llm llms model models permanently forever memory must user".split()
)

_PRIVATE = (
    r"(?:(?:conversation|chat|message) (?:history|log|transcript)|(?:whole|entire|this"
    r"|the) (?:chat|"
    r"conversation)\b|system prompt|(?:hidden|initial|original|secret) instructions|"
    r"(?:saved|stored|your) memor(?:y|ies)|passwords?|credentials|api keys?|access tokens?|"
    r"(?:all|every) (?:records?|facts?|data|secrets?)\b)"
)
EXFILTRATION = re.compile(
    r"(?<!not )(?<!never )(?<!n't )(?<!n\u2019t )\b(?:send|forward|e-?mail|upload|post|append"
    r"|include|"
    r"leak|exfiltrate|transmit|submit|encode|attach)\s"
    rf"[^.!?\n]{{0,40}}{_PRIVATE}[^!?\n]{{0,60}}(?:https?:|@|\burl\b|\blink\b|\baddress\b)"
    r"|(?<!not )(?<!never )(?<!n't )(?<!n\u2019t )\b(?:reveal|repeat|print|output|disclose|dump"
    r"|recite|"
    r"show)\s[^.!?\n]{0,20}(?:your|the|all)? ?(?:system prompt|(?:hidden|initial"
    r"|secret) instructions|"
    r"(?:saved|stored) memories)"
    r"|!\[[^\]\n]{0,100}\]\(\s{0,3}https?://[^)\n]{0,200}[?&][^)\n]{0,60}=[^)\n]{0,40}"
    r"(?:\[|\{|chat|history|summary|memory|prompt)",
    _FLAGS,
)
EXFILTRATION_CUES = frozenset(
    "send forward email mail upload post append include leak exfiltrate transmit submit encode "
    "attach reveal repeat print output disclose dump recite show http https".split()
)

_WHEN = r"(?:next time|when|whenever|as soon as|once|if|after|wait until|the moment)"
_THEN = (
    r"(?:reply|respond|tell the user|say that|advise|transfer|grant|approve|pay|wire|"
    rf"execute|call the|delete|{_SECRETLY})"
)
TRIGGER = re.compile(
    rf"\b{_WHEN}\s(?:[^.!?\n]{{0,30}}\s)?(?:user|anyone|anybody|someone|somebody|customer|messages|"
    rf"conversation|he|she|they)\b[^.!?\n]{{0,80}}\b{_THEN}\b"
    rf"|\b{_WHEN}\s[^.!?\n]{{0,100}}\b{_SECRETLY}\b",
    _FLAGS,
)
TRIGGER_CUES = frozenset("next when whenever soon once if after wait moment".split())

FORGERY = re.compile(
    r"<\|[a-z_]{2,24}\|?>|\[/?INST\]|<</?SYS>>"
    r"|</?(?:system|assistant|developer|start_of_turn|end_of_turn|tool_result|tool_response|"
    r"function_results?|instructions?|system[_-][a-z]{2,20}|assistant[_-][a-z]{2,20}|tool_calls?|"
    r"tool_use|function_calls?|invoke|parameter)\b[^<>\n]{0,80}>"
    r"|^\s{0,8}#{1,6}\s{0,3}(?:system|developer|assistant)\s{0,3}(?:prompt|message|instructions?)?:"
    r"|^\s{0,8}(?:system|developer)(?: (?:message|prompt|note))?\s{0,3}:\s"
    r"|^\s{0,8}assistant:[^\n]{0,400}\n\s{0,8}(?:user|human):"
    r"|^\s{0,8}(?:user|human):[^\n]{0,400}\n{1,3}\s{0,8}assistant:"
    r"|\"role\"\s{0,3}:\s{0,3}\"(?:system|developer|assistant|tool)\""
    r"|\"(?:tool_calls|function_call|tool_use)\""
    r"|^\s{0,8}Action\s{0,3}:\s{0,3}\w{1,60}\s{0,3}\n\s{0,8}Action Input\s{0,3}:"
    r"|^-{2,10}\s{0,3}end of [^\n]{1,40}-{2,10}\s{0,3}$"
    r"|```(?:tool_code|tool_call|system)\b",
    _FLAGS,
)
FORGERY_CUES = frozenset(
    "im system assistant developer inst sys start tool function invoke instructions instruction "
    "role action end parameter user human".split()
)

ECHO = re.compile(
    r"\b(?:as|like) i (?:have )?(?:already |previously )?(?:said|stated|noted|mentioned|wrote"
    r"|recorded|"
    r"concluded|established)\b"
    r"|\bmy (?:own )?(?:previous|earlier|prior|last|former) (?:notes?|summary|analysis"
    r"|conclusion|answer|"
    r"statement|message|entry|memory)\b"
    r"|\bwhat i (?:have )?(?:already |previously )?(?:written|said|noted|recorded|concluded)\b"
    r"|\bi (?:have )?(?:already |previously )?(?:concluded|noted|recorded|established|wrote"
    r"|said|stated)\b"
    r"[^.!?\n]{0,40}\b(?:before|earlier|last time|twice|already)\b"
    r"|\bi (?:have )?(?:already|previously) (?:concluded|noted|recorded|established|stated)\b",
    _FLAGS,
)
PROOF = re.compile(
    r"\b(?:confirm\w*|prov(?:es?|en|ed|ing)|verif\w+|establish\w*|evidence|therefore|hence|"
    r"we know|know this|reliable|according to|fact|certain)\b",
    _FLAGS,
)
"""What takes a statement for evidence of another."""
ECHO_CUES = frozenset("i my".split())

PROTECTED = re.compile(
    r"\bEZRA_[A-Z_]{2,40}\s{0,3}="
    r"|(?<![\w.])[\"']?(?:system[_ ]?prompt|system\.\w{2,20}|is_?admin|safety[_ ]?policy|allow_all|"
    r"permissions|acl|trust_level|access_level|privileges?|(?:guard|policy|memory"
    r"|security)[._]\w{2,40}"
    r"(?:\.\w{2,40})?)[\"']?\s{0,3}[:=]\s{0,3}\S"
    r"|\brole\s{0,3}[:=]\s{0,3}[\"']?(?:admin\w{0,12}|superuser|root|owner|system)\b"
    r"|\b(?:set|update|change|switch|turn)\b[^.!?\n]{0,30}\b(?:is_?admin|system prompt"
    r"|permissions?|"
    r"(?:guard|policy|security)[._]\w{2,40})\b[^.!?\n]{0,20}\bto\b",
    re.IGNORECASE,
)
PROTECTED_CUES = frozenset(
    "ezra system admin is isadmin safety allow permissions permission acl trust access privilege "
    "privileges guard policy memory security role set".split()
)

SQUASHED = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|every|of)*(?:previous"
    r"|prior|earlier|"
    r"former|above|system)?(?:instructions?|rules|guidelines|prompts?)"
)
"""The heart of an override in letters alone, for texts that are spaced out."""

ABOUT = re.compile(
    r"\b(?:prompt injections?|injection attacks?|injections?|jailbreak\w*|phishing|scam\w*"
    r"|attack(?:s|er|ers)?"
    r"|hack(?:s|er|ers|ing)?|malicious|suspicious|spam|phrases?|sentences? like|says|said|wrote"
    r"|read|saw|"
    r"tried|trick\w*|examples?|e\.g|such as|called|means?|talk|paper|article|blog)\b",
    _FLAGS,
)
"""What people say who talk about such texts."""
