"""Turn an implementation of a kernel into one Python file that checks it against the reference and times it.

The file needs torch, and Triton or cuda.core or nvcc.  It holds the implementation as it stands in its file, the other
local files that it imports, the reference, `sitegen/measure/program_parts`, and the contents of kernel.yaml.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sitegen.model.dtypes import DTYPES
from sitegen.model.kernel import Implementation, Kernel, Language, Launch
from sitegen.model.prelude import prelude
from sitegen.render.downloads.parts import Part, import_lines, names_defined, part_of, quoted
from sitegen.results.dependencies import SourceTexts, files_reached, files_reached_by_text, named_files

PARTS = {
    Language.TRITON: ("embedded", "check_and_time"),
    Language.CUDA: ("embedded", "cutlass_headers", "cuda_device", "check_and_time"),
    Language.CUDA_HOST: ("embedded", "cutlass_headers", "cuda_host", "check_and_time"),
}
"""The modules of `sitegen/measure/program_parts` that a program of each language holds."""
_TEACHER = "interpreted_bfloat16"
_PACKAGES = {Language.TRITON: "triton", Language.CUDA: '"cuda-core[cu13]"'}
_INTERPRETER = """if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # without a GPU, Triton's interpreter checks small shapes"""


def install_all(languages: Collection[Language]) -> str:
    """Return the command that installs what programs of these languages need; nvcc is no package, so it is a remark."""
    packages = [package for language, package in _PACKAGES.items() if language in languages]
    remark = "  # and nvcc, of the CUDA toolkit" if Language.CUDA_HOST in languages else ""
    return f"{' '.join(['pip install torch', *packages])}{remark}"


def file_of(kernel: Kernel, one: Implementation) -> str:
    """Return the name of the file of an implementation: `softmax_fused.py`."""
    return f"{kernel.name}_{one.name}.py"


def sources_reached(kernel: Kernel, one: Implementation, files: SourceTexts) -> tuple[str, ...]:
    """Return the paths of the local files that a program holds, except the implementation's own."""
    reached = {*_reached(kernel, one, files), *files_reached([_reference(kernel)], files)}
    return tuple(sorted(reached - {one.file}))


def program(kernel: Kernel, one: Implementation, files: SourceTexts, parts: Mapping[str, str], page: str) -> str:
    """Return the text of the program; `parts` are the modules of `program_parts` by name, `page` is the address of the
    implementation's page.
    """
    embedded, *others = [part_of(parts[name]) for name in _part_names(kernel, one)]
    imports = import_lines([embedded, *others], ("os", ""), ("torch", ""))
    own = _python(kernel, one, files, others) if one.language is Language.TRITON else _cuda(kernel, one, files)
    sections = [
        _about(kernel, one, page),
        imports,
        *([_INTERPRETER] if one.language is Language.TRITON else []),
        f"# {embedded.about}\n\n\n{embedded.body}",
        *own,
        _embedded_reference(kernel, files),
        *(f"# {part.about}\n\n\n{part.body}" for part in others),
        _contract(kernel, one),
        _main(kernel, one),
    ]
    return "\n\n\n".join(section.strip("\n") for section in sections) + "\n"


def _part_names(kernel: Kernel, one: Implementation) -> tuple[str, ...]:
    return (*PARTS[one.language], *([_TEACHER] if _is_taught(kernel, one) else []))


def _is_taught(kernel: Kernel, one: Implementation) -> bool:
    """Return whether Triton's interpreter must be taught the arithmetic of a dtype."""
    return one.language is Language.TRITON and "bfloat16" in (one.dtypes or kernel.dtypes)


def _about(kernel: Kernel, one: Implementation, page: str) -> str:
    file = file_of(kernel, one)
    dtype = (one.dtypes or kernel.dtypes)[0]
    size = ",".join(f"{name}={value}" for name, value in kernel.checks[-1].items()) if kernel.checks else ""
    lines = [
        f'"""Check and time {kernel.name}/{one.name}. {_plain(kernel.summary)}',
        "",
        f"    {install_all([one.language])}",
        f"    python {file}        # all checks, then the smallest workload, in {dtype}",
        f"    python {file} --all  # and all other workloads",
        *([f"    python {file} --size {size}"] if size else []),
        "",
        *(
            ["Without a GPU it runs under Triton's interpreter, which checks small shapes and times nothing.", ""]
            if one.language is Language.TRITON
            else []
        ),
        "Exit codes: 0 all passed, 1 a result is wrong, 2 this machine cannot run the program.",
        f"Page: {page}",
        '"""',
    ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"""', "'''")


def _python(kernel: Kernel, one: Implementation, files: SourceTexts, parts: Iterable[Part]) -> list[str]:
    """Return the modules that a Python implementation imports, and the implementation.

    It stands in the file as it is, unless it defines a name of the parts: then it is a module of its own.
    """
    text = one.source or files[one.file]
    if one.source:
        text = f"{prelude([text])}\n\n{text}"
    imported = [path for path in in_import_order(_reached(kernel, one, files), files) if path != one.file]
    sections = [f"# {path}, which it imports\n{_embed(path, files[path])}" for path in imported]
    if names_defined(text) & frozenset().union(*(names_defined(part.body) for part in parts)):
        path = f"kernels/{kernel.name}/{one.name}.py"
        return [*sections, f"# The implementation, {one.file}\n{kernel.name} = {_embed(path, text)}.{kernel.name}"]
    return [*sections, f"# The implementation, {one.file}\n\n{text.strip()}"]


def _cuda(kernel: Kernel, one: Implementation, files: SourceTexts) -> list[str]:
    """Return the sources of a CUDA implementation as texts by path."""
    path = _cuda_path(kernel, one)
    texts = {path: one.source or files[one.file]} | {
        other: files[other] for other in _reached(kernel, one, files) if other != one.file
    }
    entries = "".join(f"    {name!r}: {quoted(text)},\n" for name, text in texts.items())
    return [f"# The implementation, {one.file}\nSOURCES = {{\n{entries}}}"]


def _cuda_path(kernel: Kernel, one: Implementation) -> str:
    return f"kernels/{kernel.name}/{one.name}.cu" if one.source else one.file


def _reference(kernel: Kernel) -> str:
    return f"{kernel.folder}/reference.py"


def _embedded_reference(kernel: Kernel, files: SourceTexts) -> str:
    paths = in_import_order(files_reached([_reference(kernel)], files), files)
    lines = [_embed(path, files[path]) for path in paths]
    return "\n".join(["# The reference, and the inputs of the checks", *lines[:-1], f"REFERENCE = {lines[-1]}"])


def _embed(path: str, text: str) -> str:
    return f"embed({path!r}, {quoted(text)})"


def _reached(kernel: Kernel, one: Implementation, files: SourceTexts) -> tuple[str, ...]:
    if not one.source:
        return files_reached([one.file], files)
    suffix = "py" if one.language is Language.TRITON else "cu"
    return files_reached_by_text(one.source, f"{kernel.folder}/cell.{suffix}", files)


def in_import_order(paths: Iterable[str], files: SourceTexts) -> list[str]:
    """Return the paths, each after those that its text imports."""
    placed: dict[str, None] = {}
    open_paths: set[str] = set()

    def place(path: str) -> None:
        if path not in placed and path not in open_paths:
            open_paths.add(path)
            for other in named_files(path, files[path], files):
                place(other)
            placed[path] = None

    for path in paths:
        place(path)
    return list(placed)


def _contract(kernel: Kernel, one: Implementation) -> str:
    """Return the contents of kernel.yaml as a `Contract`; its formulas are expressions of Python as they stand."""
    names = _names(kernel)
    outputs = ", ".join(f"({_tuple(tensor.shape)}, {tensor.dtype!r})" for tensor in kernel.outputs)
    tolerance = {dtype: kernel.tolerance[dtype] for dtype in one.dtypes or kernel.dtypes if dtype in kernel.tolerance}
    own = {baseline.name for baseline in kernel.baseline_files}
    fields = {
        "kernel": repr(kernel.name),
        "implementation": repr(one.name),
        "language": repr(one.language.value),
        "arch": repr(one.arch),
        "tolerance": repr(tolerance),
        "params": repr({name: list(values) for name, values in kernel.params.items()}),
        "inputs": repr([tensor.name for tensor in kernel.inputs]),
        "extra_inputs": repr(list(kernel.extra_inputs)),
        "checks": repr([dict(dims) for dims in kernel.checks]),
        "workloads": repr([dict(workload.dims) for workload in kernel.workloads]),
        "baseline": repr(next((name for name in kernel.baselines if name not in own), "")),
        "outputs": f"lambda {names}: [{outputs}]",
        "least_bytes": f"lambda {names}: {kernel.reads} + {kernel.writes}",
        "operations": f"lambda {names}: {kernel.flops}",
    }
    lines = [f"    {name}={value},\n" for name, value in fields.items()]
    return f"# kernels/{kernel.name}/kernel.yaml\nCONTRACT = Contract(\n{''.join(lines)})"


def _names(kernel: Kernel) -> str:
    return ", ".join([*kernel.dims, *kernel.params, "itemsize"])


def _tuple(expressions: Sequence[str]) -> str:
    return f"({', '.join(expressions)}{',' if len(expressions) == 1 else ''})"


def _main(kernel: Kernel, one: Implementation) -> str:
    """Return the lines that make the Call of the implementation, and start the checks."""
    types = repr({dtype: DTYPES[dtype].cuda for dtype in one.dtypes or kernel.dtypes})
    path = _cuda_path(kernel, one)
    before, call = "", f"python_call({kernel.name}, CONTRACT)"
    if one.launch is not None:
        before = f"{_launch(kernel, one.launch)}\n\n\n"
        outputs = [tensor.name for tensor in kernel.outputs]
        call = f"device_call(SOURCES, {path!r}, launch_at, {types}, {outputs!r}, cutlass_headers)"
    elif one.host:
        names = f"{list(kernel.dims)!r}, {list(kernel.params)!r}"
        call = f"host_call(SOURCES, {path!r}, {one.host!r}, {types}, {names}, cutlass_headers)"
    if _is_taught(kernel, one):
        teach = '    if "TRITON_INTERPRET" in os.environ:\n        teach_interpreter()\n'
        return f'if __name__ == "__main__":\n{teach}    main(CONTRACT, REFERENCE, {call})'
    return f'{before}if __name__ == "__main__":\n    main(CONTRACT, REFERENCE, {call})'


def _launch(kernel: Kernel, launch: Launch) -> str:
    """Return the launch of kernel.yaml as a function of the names."""
    buffers = {tensor.name for tensor in (*kernel.inputs, *kernel.outputs)}
    arguments = [repr(word) if word in buffers else word for word in launch.args]
    constants = ", ".join(f"{name!r}: {name}" for name in launch.constants)
    return "\n".join(
        [
            f"def launch_at({_names(kernel)}):",
            *(f"    {name} = {expression}" for name, expression in launch.constants.items()),
            "    return Launch(",
            f"        entry={launch.entry!r},",
            f"        grid={_tuple(launch.grid)},",
            f"        block={_tuple(launch.block)},",
            f"        arguments={_tuple(arguments)},",
            f"        constants={{{constants}}},",
            *([f"        cluster={_tuple(launch.cluster)},"] if launch.cluster else []),
            f"        shared={launch.shared},",
            "    )",
        ]
    )
