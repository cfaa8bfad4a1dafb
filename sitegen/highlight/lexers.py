"""Pygments lexers for what GPU pages show and Pygments does not know: Triton, NVIDIA's SASS, PTX with predicates."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, inherit, words
from pygments.lexers.ptx import PtxLexer as _Ptx
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

_TYPES = re.findall(
    r"\w+",
    "constexpr tensor dtype pointer_type block_type void int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float8e4nv float8e5 float8e4b15 float16 bfloat16 float32 float64 TensorDescriptor tensor_descriptor",
)


class TritonLexer(PythonLexer):
    """Python in which `tl.…` is the language's own."""

    name = "Triton"
    aliases: ClassVar[list[str]] = ["triton"]
    filenames: ClassVar[list[str]] = []
    tokens: ClassVar[dict[str, Any]] = {
        "expr": [
            (words(_TYPES, prefix=r"\b(?:tl|triton\.language)\.", suffix=r"\b"), Keyword.Type),
            (r"\b(?:tl|gl|triton\.language)\.[A-Za-z_][\w.]*", Name.Function),
            (r"\btriton\.(?:jit|autotune|heuristics|cdiv|next_power_of_2|Config)\b", Name.Function),
            inherit,
        ],
        "root": [(r"@triton\.[a-z_]+", Name.Decorator), inherit],
    }


class PtxLexer(_Ptx):
    """PTX whose predicates (`@%p1 bra`) are no mistakes, and whose `cp.async.bulk.shared::cluster` is no label."""

    tokens: ClassVar[dict[str, Any]] = {
        "root": [(r"@!?(?=%)", Operator), (r"[a-z]\w*(?:\.\w+)*(?:::\w+(?:\.\w+)*)+", Keyword), inherit]
    }


class SassLexer(RegexLexer):
    """The lexer of SASS as nvdisasm and cuobjdump -sass print it: `/*0050*/ @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;`."""

    name = "SASS"
    aliases: ClassVar[list[str]] = ["nvsass"]
    filenames: ClassVar[list[str]] = []
    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"/\*.*?\*/", Comment),
            (r"//.*", Comment),
            (r"\.?[A-Za-z_$][\w$.]*:", Name.Label),
            (r"^\s*\.[a-z][\w.]*", Keyword.Reserved),
            (r"\bFunction\s*:", Keyword.Reserved),
            (r'"[^"\n]*"', String),
            (r"@!?U?P(?:T|\d+)", Keyword),
            (r"!?\bU?P(?:T|\d+)\b", Keyword.Type),
            (r"\b(?:U?R(?:Z|\d+)|B\d+|SB\d+|SR_[A-Za-z0-9_.]+|desc|gdesc|c|cx)\b(?:\.[\w.]+)?", Keyword.Type),
            (r"[-+]?(?:0x[0-9a-fA-F]+|\d+\.\d*(?:[eE][-+]?\d+)?|\d+)\b", Number),
            (r"[-+]?(?:INF|QNAN|NAN)\b", Number),
            (r"`\([^)\n]*\)", Name.Label),
            (r"[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*\b", Name.Function),
            (r"[\w$.]+", Text),
            (r"[\[\](){},;:&?|~!+*/<>=-]", Punctuation),
            (r".", Text),
        ]
    }
