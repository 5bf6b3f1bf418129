"""Runs the code on standard input and prints the value of its last expression.

It keeps honest mistakes small: no files, no other programs, little memory. It is no sandbox.
"""
import ast
import builtins
import linecache
import sys
import traceback

ALLOWED = {
    "math", "cmath", "statistics", "decimal", "fractions", "random", "json", "re", "string", "textwrap", "itertools",
    "functools", "operator", "collections", "heapq", "bisect", "dataclasses", "enum", "typing", "datetime", "calendar",
    "zoneinfo", "hashlib", "base64", "numpy", "pandas", "scipy", "matplotlib",
}
WITHOUT = {"open", "breakpoint", "input", "__import__", "exit", "quit", "help"}
MEMORY = 512 * 1024 * 1024

try:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
except (ImportError, ValueError, OSError):
    pass


def limited_import(name, globals=None, locals=None, fromlist=(), level=0):
    if name.partition(".")[0] not in ALLOWED:
        raise ImportError(f"'{name}' cannot be imported here; these can: {', '.join(sorted(ALLOWED))}")
    return __import__(name, globals, locals, fromlist, level)


def main():
    code = sys.stdin.buffer.read().decode("utf-8")
    names = {name: value for name, value in vars(builtins).items() if name not in WITHOUT}
    names["__import__"] = limited_import
    space = {"__name__": "__main__", "__builtins__": names}
    linecache.cache["<code>"] = (len(code), None, code.splitlines(True), "<code>")
    try:
        tree = ast.parse(code, "<code>")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<code>", "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<code>", "eval"), space)
            if value is not None:
                print(repr(value))
        sys.stdout.flush()
    except SystemExit as end:
        sys.stdout.flush()
        return 0 if end.code in (None, 0) else 1
    except BaseException as error:
        sys.stdout.flush()
        # The frames of this file say nothing about the code.
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != "<code>":
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames, limit=20)
        return 1
    return 0


sys.exit(main())
