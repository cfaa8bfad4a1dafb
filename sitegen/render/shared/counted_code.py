"""Compile templates of a site to code that counts its steps, and that calls the sandbox for some expressions: `a ~ b`,
slices, comparisons and keys.

Jinja compiles these to plain Python.  The sandbox lets it compile other operators to calls.
"""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, operators
from jinja2.nodes import Node

from sitegen.render.shared.budget import STEP


class CountedCode(CodeGenerator):
    """The code generator of the sandbox."""

    def blockvisit(self, nodes: Iterable[Node], frame: Frame) -> None:
        """Compile the body of a loop, a macro, a block, a condition or a template, each of which may run many times."""
        body = list(nodes)
        self.writeline(f"environment.budget.charge({STEP * _steps(body)})", body[0] if body else None)
        super().blockvisit(body, frame)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        if node.test is not None:  # a round whose test fails does not reach the body
            node.test = nodes.And(nodes.EnvironmentAttribute("step"), node.test, lineno=node.lineno)
        super().visit_For(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.call_concat(context, (")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        self.write("(")
        self._write_weighed(node.expr, frame)
        for one in node.ops:
            self.write(f" {operators[one.op]} ")
            self._write_weighed(one.expr, frame, "searched" if one.op in ("in", "notin") else "weighed")
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("{")
        for item in node.items:
            self._write_weighed(item.key, frame)
            self.write(": ")
            self.visit(item.value, frame)
            self.write(", ")
        self.write("}")

    def _write_weighed(self, node: nodes.Expr, frame: Frame, method: str = "weighed") -> None:
        """Write an expression whose value is compared or hashed."""
        if isinstance(node, nodes.Const):
            self.visit(node, frame)
            return
        self.write(f"environment.{method}(")
        self.visit(node, frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.made(")
        super().visit_Getitem(node, frame)
        self.write(")")


def _steps(body: Iterable[Node]) -> int:
    """Return the number of nodes in a body, without those of the bodies in it, which count on their own."""
    return 1 + sum(_steps(node.iter_child_nodes(exclude=("body", "else_"))) for node in body)
