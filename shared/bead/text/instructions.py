"""Whether a text reads like an instruction to a model, also behind tricks of Unicode (I14).

Errs towards yes: a person sees what it finds, and loses a click; what it misses may be obeyed. Pure.
"""

import re
import unicodedata

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff\U0001d173-\U0001d17a]"
)
# Joiners belong to emoji and to some scripts; the rest hides something.
_HARMLESS = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0261\u0251"
    "\u03b1\u03bf\u03c1\u03bd\u03b9\u03ba\u03c4\u03c5\u0131\u043a\u043c\u0442\u0432\u043d",
    "aeopcyxijshdqwgaaopviktuikmtbh",
)
_LEET = str.maketrans("013457@$", "oieastas")
_SPACED = re.compile(r"\b(?:[a-z][ ._-]){3,}[a-z]\b")

_BEFORE = (
    "(?:all |any |the |your |these |those |my |of |prior |previous |earlier |above |preceding |existing |other |safety "
    "|system )*"
)
_RULES = (
    "(?:instructions?|rules?|prompts?|directions?|guidelines?|guardrails?|polic(?:y|ies)|checks?|constraints?|context"
    "|warnings?|approvals?)"
)
_HIDDEN_FROM = (
    "(?:tell|telling|inform|informing|mention|mentioning|ask|asking|warn|warning|reveal|show|showing|notify|notifying"
    "|alert|alerting|confirm|confirming|verify|disclose|disclosing|report|reporting|log|logging)"
)
_SECRETS = (
    "(?:keys?|tokens?|secrets?|passwords?|credentials?|env(?:ironment)?|[.]env|cookies?|ssh|history|conversation"
    "|contents?|to https?:)"
)
_GUARDS = (
    "(?:security|safety|tls|ssl|auth[a-z]*|permission|check|verification|sandbox|scan|hook|log|guard|confirmation)"
)
_YOU_ARE = (
    "(?:are now|must now|will now|shall now|have been|are no longer|now act|should act|must|are required"
    "|are authori[sz]ed)"
)
_WHO = "(?:assistant|system|developer|ai|agent|model)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:ignore|disregard|forget|override|bypass|discard|drop|skip|neglect)\s+{_BEFORE}{_RULES}\b",
        r"\b(?:new|updated|real|hidden|secret|special|following) (?:system )?(?:instructions?|orders?|directives?)\b",
        rf"\byou {_YOU_ARE}\b",
        r"\b(?:act|behave|respond|pretend|pose) as (?:if|an?|the|though)\b|\bjailbr(?:eak|oken)\b",
        r"\b(?:developer|dan|god|admin|root) mode\b|\bsystem (?:prompt|message|override|note)\b",
        rf"\b{_WHO}s?\s*[:>]|\b(?:dear|attention|note to|hey)\s+(?:the )?(?:ai|assistant|agent|model|llm|claude)\b",
        rf"\b(?:do not|don't|dont|never|without)\s+(?:ever )?{_HIDDEN_FROM}\b",
        r"\b(?:auto[- ]?)?(?:approve|accept|allow|trust|whitelist|permit|grant)\s+"
        r"(?:all|every|any|each|everything|this|the following)\b",
        rf"\b(?:send|upload|post|exfiltrate|leak|forward|email|transmit|copy|publish|push|report)\b.{{0,60}}\b{_SECRETS}",
        r"\b(?:curl|wget|iwr|fetch)\b.{0,120}(?:\||>|;|&&|\bsh\b|\bbash\b|https?:)",
        r"\b(?:eval|exec|base64 -d|nc -e|rm -rf|chmod 777|mkfifo|powershell|sudo)\b",
        r"\b(?:execute|run|invoke|call|install)\s+(?:the |this |these |that )?"
        r"(?:following|below|above|script|command|payload|code|tool)\b",
        r"--(?:no-verify|dangerously[\w-]*|force\b|insecure|yolo|allow-root|skip-permissions)",
        rf"\b(?:disable|turn off|switch off)\s+(?:the |all |any )?{_GUARDS}",
        r"<\s*/?\s*(?:system|assistant|user|instructions?|bead-memory|transcript|tool|im_start|im_end)\b",
        r"\[/?inst\]|<\|[a-z_]+\|>|\bbegin (?:system|instructions)\b|###\s*(?:system|instruction)",
        r"\bwhenever (?:you|the (?:agent|assistant|model|ai))\b",
        r"\b(?:ai|agent|assistant|model|llm)s? (?:must|should|shall|has to|have to|needs? to|will|may|can)\b",
        r"\b(?:ignorier|vergiss|missachte)\w*\b.{0,30}(?:anweisung|regel|vorgabe)",
        r"\bignor[ae]\w*\b.{0,30}(?:instruc|consign|regl|istruzion)|\boublie\w*\b.{0,30}(?:instruction|consigne|regle)",
        "[\u5ffd\u65e0\u7121][\u7565\u89c6\u8996].{0,10}(?:\u6307\u4ee4|\u6307\u793a|\u89c4\u5219|\u63d0\u793a)",
        "(?:\u4ee5\u524d|\u4e0a\u8a18|\u524d)\u306e(?:\u6307\u793a|\u547d\u4ee4).{0,6}\u7121\u8996",
        "\u0438\u0433\u043d\u043e\u0440\u0438\u0440\u0443\u0439",
    )
)


def is_suspicious(text: str) -> bool:
    """Whether `text` reads like an instruction, or hides something."""
    if _UNSEEN.search(_HARMLESS.sub("", text)):
        return True
    return any(pattern.search(form) for form in _forms(text) for pattern in _PATTERNS)


def _forms(text: str) -> set[str]:
    """`text` as it is read: without marks, look-alikes, digits for letters, and letters set apart."""
    plain = unicodedata.normalize("NFKD", _UNSEEN.sub("", unicodedata.normalize("NFKC", text)))
    plain = "".join(char for char in plain if not unicodedata.combining(char)).casefold()
    plain = " ".join(plain.replace("\u2019", "'").split())
    folded = plain.translate(_LOOKALIKES)
    joined = _SPACED.sub(lambda match: re.sub(r"[ ._-]", "", match[0]), folded)
    words = re.sub(r"(?<=[a-z])[_*.](?=[a-z])", " ", joined)
    return {text.casefold(), plain, folded, joined, words, folded.translate(_LEET)}
