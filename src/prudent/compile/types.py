"""How plain Python becomes compiled code; this file and prudent.compile.announce alone know Numba's internals.

`kernel` compiles an engine loop and caches it on disk; `helper` marks a function that kernels and policies may
call. A policy is a `NamedTuple` class whose methods Numba compiles as they stand, so the same source runs
interpreted in a live experiment and compiled in a simulation. A risk measure is a dataclass; inside kernels its
`tuple_form` stands for it.

Machine code is kept on disk, and must never be found again once something it was made from has changed. Numba looks
only at the kernel's own file. So the name of a file of machine code tells the source of what that file imports as well,
and the type under which a policy is compiled carries a fingerprint of its code and of all that it reads
(prudent.compile.cache). An edit of one policy then leaves the machine code of the others in use.
"""

import glob
import hashlib
import inspect
from collections import namedtuple
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.cgutils import create_struct_proxy
from numba.core.errors import NumbaError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import (
    intrinsic,
    models,
    overload,
    overload_method,
    register_jitable,
    register_model,
    typeof_impl,
)
from numba.misc.special import typeof

from prudent.base.errors import PrudentError, shown
from prudent.compile.cache import fingerprint, functions_read, is_own, source_digest

F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A compiled loop, cached on disk, that lets other threads run.

    Called from Python it needs an entrance from there, which takes long to compile. Most kernels are called by others
    only; so inside kernels stands a second form without one, or a simpler one where `simpler_for` says so.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self.py_func = function
        self.alone = _cached(function, nogil=True)
        self.inside = _cached(function, no_cpython_wrapper=True)
        self.simpler: dict[Any, Any] = {}
        update_wrapper(self, function)

    def __call__(self, *args: object) -> Any:
        return self.alone(*args)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    def form(self, args: Sequence[object]) -> Any:
        """What stands for it inside kernels, where the arguments are of these types."""
        return self.simpler.get(getattr(args[0], "instance_class", None), self.inside) if args else self.inside


def kernel(function: F) -> F:
    """Make a `Kernel` of a function."""
    made: Any = Kernel(function)
    return cast(F, made)


def simpler_for(general: Any, special: type) -> Callable[[F], F]:
    """Inside kernels the function below, which does the same, is taken for the kernel `general` if its first argument
    is a `special`; what only others need is then not compiled."""

    def register(function: F) -> F:
        general.simpler[special] = _cached(function, no_cpython_wrapper=True)
        return function

    return register


def _cached(function: Callable[..., object], **options: bool) -> Any:
    compiled: Any = njit(cache=True, no_cfunc_wrapper=True, **options)(function)
    compiled._cache = KeptCode(function)
    compiled._cache._cache_file = MachineCode(compiled._cache, "inside" if "no_cpython_wrapper" in options else "alone")
    return compiled


class KernelType(types.Dispatcher):  # type: ignore[misc]
    """A kernel inside of others. The value of a constant argument does not matter: True and False are one type."""

    def __init__(self, called: Kernel) -> None:
        super().__init__(called.inside)
        self._called = called

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        plain = [types.unliteral(each) for each in args]
        return types.Dispatcher(self._called.form(plain)).get_call_type(context, plain, kws)

    def get_overload(self, sig: Any) -> Any:
        return self._called.form(sig.args).get_overload(sig.args)


register_model(KernelType)(models.OpaqueModel)


@typeof_impl.register(Kernel)  # type: ignore[untyped-decorator]
def _kernel_type(value: Kernel, _: object) -> KernelType:
    return KernelType(value)


class KeptCode(FunctionCache):  # type: ignore[misc]
    """What is compiled runs in this process, kept or not: seldom, where two processes compile at once, Numba finds no
    object to write ("no compiled object yet"), and the next process only has to compile it again."""

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it, if Numba can."""
        with suppress(RuntimeError):
            super().save_overload(sig, data)


class MachineCode(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a kernel, each named by what it was compiled from: the source, the form and the types of arguments.

    Numba numbers its files and lists them in an index. Two processes that compile at once take the same number, and one
    would then find under its own policy the machine code of the other's.
    """

    def __init__(self, cache: Any, form: str) -> None:
        locator, self._base = cache._impl.locator, cache._impl.filename_base
        super().__init__(cache.cache_path, self._base, locator.get_source_stamp())
        self._source, self._form = Path(locator._py_file), form
        (name, _, _), (_, _, python) = self._base.rpartition("-"), self._base.rpartition(".")  # a line number between
        self._pattern = f"{glob.escape(name)}-*.{python}.*"

    @cached_property
    def _begins(self) -> str:
        source = repr((source_digest(self._source), self._version))
        return f"{self._base}.{hashlib.blake2b(source.encode(), digest_size=6).hexdigest()}"

    def save(self, key: Any, data: Any) -> None:
        """Keep it, if the disk allows; code of another source is of no use any more."""
        with suppress(OSError):
            for path in Path(self._cache_path).glob(self._pattern):
                if not path.name.startswith(self._begins):
                    path.unlink(missing_ok=True)
            self._save_data(self._name(key), data)

    def load(self, key: Any) -> Any:
        """What was kept; None if nothing was, or if it is damaged."""
        try:
            return self._load_data(self._name(key))
        except Exception:  # a pickle cut short may raise anything
            return None

    def _name(self, key: Any) -> str:
        return f"{self._begins}.{hashlib.blake2b(repr((self._form, key)).encode(), digest_size=12).hexdigest()}.nbc"


def inlined(function: F) -> F:
    """A few lines inside the innermost loops, where a call would cost more than its body."""
    compiled: F = njit(inline="always")(function)
    return compiled


def helper(function: F) -> F:
    """A function that runs as Python and inside kernels alike."""
    marked: F = register_jitable(no_cfunc_wrapper=True)(function)
    _helpers.add(marked)
    return marked


_helpers: set[Callable[..., Any]] = set()


def _mark_helpers(function: FunctionType) -> None:
    """Make a `helper` of every plain function of the user's that a function reads, and of those that they read."""
    for each in functions_read(function):
        if each not in _helpers:
            helper(each)
            _mark_helpers(each)


def absorbed(function: F) -> F:
    """A `helper` that becomes part of the kernel that calls it. Unlike one that is `inlined` it does so in machine code
    only, so it may have loops and several ends."""
    marked: F = register_jitable(no_cfunc_wrapper=True, forceinline=True)(function)
    return marked


in_line: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
"""What `in_kernels` was told to put in line, and what stands for it: only the CPU's compiler can."""


def in_kernels(plain: Callable[..., object], *, inline: bool = False) -> Callable[[F], F]:
    """Inside kernels `plain` is what the function below returns, which is called with the types of its arguments.

    With `inline` it stands in line: a function that takes the random generator would count references to it in every
    call.
    """

    def register(choose: F) -> F:
        if inline:
            in_line.append((plain, choose))
        kind = "always" if inline else "never"
        overload(plain, strict=False, inline=kind, jit_options={"no_cfunc_wrapper": True})(choose)
        return choose

    return register


def either(asks: Callable[[Any], bool], one: Callable[..., Any], other: Callable[..., Any]) -> Any:
    """A function that is `one` if its first argument is a policy whose class `asks` for it, else `other`; both take the
    same arguments, and become part of the kernel."""

    def plain(*args: Any) -> Any:
        return (one if asks(type(args[0])) else other)(*args)

    def template(*args: Any) -> Any:
        return one if asks(args[0].instance_class) else other

    template.__signature__ = inspect.signature(one)  # type: ignore[attr-defined]
    overload(plain, strict=False, jit_options={"no_cfunc_wrapper": True, "forceinline": True})(template)
    return plain


def with_methods_in_kernels(classes: Sequence[type]) -> None:
    """Tuples of these classes, of several floats each, which kernels make themselves, have the methods of their classes
    there; all classes have methods of the same names and arguments."""
    for name, method in public_methods(classes[0]).items():

        def template(*args: Any, name: str = name) -> Any:
            return getattr(args[0].instance_class, name) if args[0].instance_class in classes else None

        template.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
        overload_method(types.NamedUniTuple, name, jit_options={"no_cfunc_wrapper": True})(template)


class PolicyType(types.NamedTuple):  # type: ignore[misc]
    """A policy class as Numba sees it: its fields' types and a fingerprint of its code.

    Equality rests on the fingerprint, not on the class object, so that a policy defined in a script or a notebook
    finds its compiled code again in the next process.
    """

    def __init__(self, element_types: tuple[object, ...], policy: type) -> None:
        super().__init__(element_types, policy)
        self.name = f"{policy.__module__}.{policy.__qualname__}@{fingerprint(policy)}{element_types}"

    @property
    def key(self) -> str:
        return str(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PolicyType) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __bool__(self) -> bool:
        # Numba asks `if receiver:` of a method's owner; a policy without parameters is an empty tuple, yet an owner.
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        return _known_type, (self.key,)


_present: dict[str, PolicyType] = {}


def _known_type(key: str) -> PolicyType:
    """The type in machine code that is being loaded: it was looked for by its types, so they are there."""
    return _present[key]


def policy_type(element_types: tuple[Any, ...], policy: type) -> PolicyType:
    """The type of a policy class whose fields are of these types."""
    made: PolicyType = compilable(policy)(element_types, policy)
    return _present.setdefault(made.key, made)


def with_methods(value: object) -> Any:
    """A `NamedTuple` of a compilable class that was made inside a kernel, so that its methods can be called there."""
    return value


@intrinsic  # type: ignore[untyped-decorator]
def _with_methods(_: Any, value: Any) -> Any:
    made = policy_type(tuple(value.types), value.instance_class)
    return made(value), lambda context, builder, signature, args: impl_ret_borrowed(context, builder, made, args[0])


in_kernels(with_methods)(lambda value: lambda value: _with_methods(value))  # noqa: PLW0108, since Numba wants a function


def borrowed(value: object) -> Any:
    """The same value, but references to its arrays and generators are not counted: for kernels whose caller keeps them,
    and that return none of them.

    Else they are counted wherever one is handed to a function, which adds up to a third of a block's time.
    """
    return value


@intrinsic  # type: ignore[untyped-decorator]
def _borrowed(_: Any, value: Any) -> Any:
    def bare(context: Any, builder: Any, kind: Any, given: Any) -> Any:
        if isinstance(kind, types.BaseTuple):
            for i, part in enumerate(kind):
                given = builder.insert_value(given, bare(context, builder, part, builder.extract_value(given, i)), i)
        elif isinstance(kind, (types.Array, types.NumPyRandomGeneratorType)):
            made = create_struct_proxy(kind)(context, builder, given)
            made.meminfo = made.meminfo.type(None)
            given = made._getvalue()
        return given

    return value(value), lambda context, builder, signature, args: bare(context, builder, value, args[0])


in_kernels(borrowed)(lambda value: lambda value: _borrowed(value))  # noqa: PLW0108, since Numba wants a function


def as_compiled(policy: Any) -> Any:
    """The policy as kernels take it: one from outside this package in a class of its own for every state of its code.

    Numba tells tuples apart by the names of their classes and fields. So a class written a second time in a notebook,
    or one whose functions or constants have changed since, would run the machine code of the first.
    """
    for name, value in zip(policy._fields, policy, strict=True):
        _check_field(type(policy).__name__, name, value)
    return compiled_class(type(policy))._make(policy)


def compiled_class(cls: object) -> Any:
    """The class under which Numba knows tuples of this one: for code from outside one for every state of it."""
    kind: Any = _named_by_code(cls)
    compilable(kind)
    return kind


def _check_field(owner: str, name: str, value: object) -> None:
    """Refuse what Numba cannot take as an argument, and what would change between rounds."""
    if isinstance(value, (bool, int, float, str)) or hasattr(value, "_fields"):  # a part was checked when it was made
        return
    try:
        fits = not isinstance(value, (list, set, dict)) and typeof(value) is not None
    except (ValueError, TypeError, NumbaError):
        fits = False
    if not fits:
        raise PrudentError(
            f"{owner}: {name} must be a number, a text, an array or a tuple of these, because policies are compiled,"
            f" got {shown(value)}; write constants as a tuple, and take what was learnt from the arms in score or phase"
        )


def _named_by_code(cls: Any) -> Any:
    """The class itself if its code is this package's, which does not change, or else one like it named by its code."""
    if is_own(cls) or cls in _renamed.values():
        return cls
    key = cls, fingerprint(cls)
    if key not in _renamed:
        named = {"__slots__": (), "__module__": cls.__module__, "__qualname__": cls.__qualname__}
        for method in public_methods(cls).values():
            _mark_helpers(method)
        _renamed[key] = type("_".join((cls.__name__, key[1])), (cls,), {**named, **public_methods(cls)})
    return _renamed[key]


_renamed: dict[tuple[type, str], type] = {}


@cache
def compilable(policy: Any) -> Any:
    """Teach Numba the policy class (once): its fields and its methods. Returns its Numba type class."""
    kind = type(f"{policy.__name__}Type", (PolicyType,), {})
    register_model(kind)(models.TupleModel)
    typeof_impl.register(policy)(lambda value, _: policy_type(tuple(typeof(field) for field in value), policy))
    for name, method in public_methods(policy).items():
        _forward(kind, name, method)
    return kind


def _forward(kind: type, name: str, method: FunctionType) -> None:
    def template(*_: object, **__: object) -> FunctionType:
        return method

    template.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    overload_method(kind, name, jit_options={"no_cfunc_wrapper": True})(template)


def tuple_form(value: object, interpreted: frozenset[str] = frozenset()) -> Any:
    """A dataclass instance as a `NamedTuple` with the same fields and methods, for kernels; its numbers as floats.

    Methods named in `interpreted` stay behind, as do the private ones.
    """
    cls: Any = type(value)
    kind: Any = _tuple_class(cls, interpreted, fingerprint(cls))
    numbers = (getattr(value, name) for name in kind._fields)
    return kind._make(float(number) if isinstance(number, int) else number for number in numbers)


@cache
def _tuple_class(cls: Any, interpreted: frozenset[str], code: str) -> Any:
    """The class of the tuples, made anew where the code has changed."""
    name = cls.__name__ if is_own(cls) else f"{cls.__name__}_{code}"
    made: Any = namedtuple(name, [field.name for field in fields(cls)])  # type: ignore[misc]
    made.__module__, made.__qualname__ = cls.__module__, cls.__qualname__
    for base in reversed(cls.__mro__):
        for name, method in public_methods(base).items():
            if name not in interpreted:
                _mark_helpers(method)
                setattr(made, name, method)
    compilable(made)
    return made


def public_methods(policy: type) -> dict[str, FunctionType]:
    """The plain methods of the class, by name."""
    members = vars(policy).items()
    return {name: value for name, value in members if isinstance(value, FunctionType) and not name.startswith("_")}
