"""The nodes: positions, expressions, statements, functions, kernels, and modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from cudafix.models.api import Defined, Prototype

T = TypeVar("T")


class Span(NamedTuple):
    """A half-open range of bytes, `[start, end)`, in the file at `path` (as discovery names it)."""

    path: str
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Site:
    """The statement around an operation: where text may be inserted, and in which words.

    A statement in a brace-less branch or loop (`if (x) cudaFree(p);`) has `needs_braces`. One at the top of a macro's
    body, or in such a branch there, has `needs_do`: whatever the macro is used in, the statement and what is inserted
    have to be one statement, `do { ... } while (0)`. `prefix` and `suffix` are the
    code's own wrapper around the call, so that `prefix + "cudaStreamSynchronize(s)" + suffix` is a statement in the
    code's own style (`CHECK(` and `);`). `blocked` says why nothing may be inserted or edited here (an argument of a
    macro that is expanded twice, a file outside the tree, a declaration whose initializer is the call); None where it
    may. `continuation` is true inside the body of a multi-line macro, where every inserted line must end in a
    backslash. `fixed` says why not even the text of the call may change (its name is pasted together, another file's
    macro holds it). Of a statement in the body of a macro, `use` is the statement of the function that uses the macro.
    `named` is true where the text has only the name of the function, as a value: what is written there is a lambda, in
    which the call and what is inserted in front of it stand.
    """

    span: Span
    indent: str
    prefix: str
    suffix: str
    needs_braces: bool = False
    needs_do: bool = False
    continuation: bool = False
    blocked: str | None = None
    fixed: str | None = None
    use: Site | None = None
    named: bool = False


class Var(NamedTuple):
    """A variable, by the name that scope resolution gave it.

    `p` for a parameter or a local, `p@120` for a local that shadows another one (120: offset of its declaration),
    `::g` for a global, a namespace-scope or a file-static variable, `Class::m` for a static member, `this` for `this`,
    `p@100` for the copy of `p` that the closure of a lambda has (100: offset of the lambda),
    `%3` for the temporary result of a call inside an expression, `f::s` for a function-local static. The variables that
    each instantiation of a template has one of are an array, by an index that begins with `INSTANCE`.
    """

    name: str


class Field(NamedTuple):
    """`base.name`; `p->name` is `Field(Deref(Var("p")), "name")`, an implicit member the same of `Var("this")`."""

    base: Expr
    name: str


class Index(NamedTuple):
    """`base[index]`, of an array, a pointer or a container with `operator[]` / `.at()`."""

    base: Expr
    index: Expr  # type: ignore[assignment]  # hides tuple.index, which no caller wants


class Deref(NamedTuple):
    """`*base`."""

    base: Expr


class Addr(NamedTuple):
    """`&base`; also what a reference parameter receives."""

    base: Expr


class Offset(NamedTuple):
    """Pointer arithmetic: `base + n`, `base - n`, `&base[n]`; points into the same object as `base`."""

    base: Expr


class Const(NamedTuple):
    """A literal, an enumerator or a macro constant, by its text: `0`, `nullptr`, `cudaStreamNonBlocking`, `N`."""

    text: str


class Choice(NamedTuple):
    """One of several values: `c ? a : b`."""

    options: tuple[Expr, ...]


class Opaque(NamedTuple):
    """Any other computed value; `parts` are the variables and places that it was computed from."""

    parts: tuple[Expr, ...]


class FuncRef(NamedTuple):
    """A function (or a lambda, by the name that lowering gave it) used as a value."""

    name: str


Expr: TypeAlias = Var | Field | Index | Deref | Addr | Offset | Const | Choice | Opaque | FuncRef
NULL = Const("nullptr")


class Look(Enum):
    """What the program does with the status that a call returns."""

    IGNORED = "ignored"  # a bare expression statement, or cast to void
    CHECKED = "checked"  # in a check macro or function, compared, assigned, returned


@dataclass(slots=True, eq=False)
class Call:
    """`result = callee(args)`. For a method call `receiver` is the object and `callee` the bare method name.

    `span` covers the call expression, `name_span` the callee token (empty when token pasting made it), and `close` is
    the offset of the closing parenthesis. `arg_spans` are the source ranges of the arguments, in order. `scope` is the
    parameter of a template that stands for the class of the function: `P` in `P::allocate(n)`. `class_args` are the
    arguments of the class template that is named in front of the function: `Pool` in `Work<Pool>::run()`.
    """

    callee: str
    args: tuple[Expr, ...]
    span: Span
    name_span: Span
    close: int
    site: Site
    arg_spans: tuple[Span, ...] = ()
    receiver: Expr | None = None
    result: Expr | None = None
    look: Look = Look.IGNORED
    template_args: str = ""
    scope: str = ""
    class_args: str = ""

    @property
    def given(self) -> tuple[Expr, ...]:
        """What the callee gets: the object of a method call, and the arguments."""
        return self.args if self.receiver is None else (self.receiver, *self.args)


@dataclass(slots=True, eq=False)
class Launch:
    """`kernel<<<grid, block, shared, stream>>>(args)`; `stream` is None where the launch names none. `pointer` leads to
    the kernel where the name is that of a variable.
    """

    kernel: str
    args: tuple[Expr, ...]
    stream: Expr | None
    span: Span
    site: Site
    pointer: Expr | None = None


@dataclass(slots=True, eq=False)
class Assign:
    """`target = value`, for targets that may hold a pointer, a stream, an event, a handle, a status or a loop index.

    `counts`: it steps a number, or sets bits of it, so that repeating it does not bring back what was there.
    """

    target: Expr
    value: Expr
    span: Span
    counts: bool = False


@dataclass(slots=True, eq=False)
class Declare:
    """A local declaration without an initializer, or of an array or object: the variable starts out fresh here.

    `type` is the declared type as written, without cv-qualifiers: `float *`, `std::vector<float*>`, `cudaStream_t`.
    `array` is true for C arrays. An initializer, if there is one, is lowered to an `Assign` or `Call` after this.
    """

    var: Var
    type: str
    array: bool
    span: Span


@dataclass(slots=True, eq=False)
class HostAccess:
    """Plain host code: which places it reads and writes through pointers, arrays and globals.

    A run of neighbouring host statements without calls that matter, whole loops of them too, is one `HostAccess`. Where
    objects end (`ends`), the next ones in their memory write there; nothing is stored that somebody could read.
    `throws`: where there is no such place, an exception leaves it.
    """

    reads: tuple[Expr, ...]
    writes: tuple[Expr, ...]
    span: Span
    ends: bool = False
    throws: bool = False


class Test(NamedTuple):
    """A condition. `place` is non-null in the `then` branch for `nonnull`, null for `null`; for `ok` and `failed` it is
    a status. `held` is `nonnull` for an owner that only assignments to it change: of its branches, those run that its
    value allows. For `is`, it leads to an object of Python, which is of the class that `text` names in the `then`
    branch.

    `other` is anything else. `text` is the normalized source text, so that equal conditions can be told. What is
    `asked` has one answer in all of a call of the function: it says which question that is, and whether the `then`
    branch runs where the answer is yes.
    """

    kind: str  # "nonnull" | "null" | "held" | "ok" | "failed" | "is" | "other"
    place: Expr | None
    text: str
    asked: tuple[str, bool] | None = None


@dataclass(slots=True, eq=False)
class If:
    test: Test
    then: Block
    other: Block
    span: Span


@dataclass(slots=True, eq=False)
class Loop:
    """A loop. `condition` runs before each test of the loop condition (its calls and host reads), `step` after each
    round.

    A canonical loop `for (i = a; i < b; i++)`, whose body assigns neither `i` nor what `a` and `b` are made of, has
    `index` and `range` (`"a:b"`, normalized text): two loops with the same range visit the same indices. A range with
    marks (`"0:{}"`) is the same only where the variables are that stand for them, its `bounds`. `reads` are the places
    that it is made of besides: it is the same only while those keep their values.
    `at_least_once` is true for `do … while` and for constant bounds that make one round certain. `forever` is true for
    `while (true)` and `for (;;)`. `test` is the text of a condition without calls and macros; else it is empty. In
    Python, that of a loop over elements is what it runs through, behind `in`, if no code of the program gives them.
    """

    body: Block
    span: Span
    condition: Block = ()
    step: Block = ()
    index: Var | None = None
    range: str | None = None
    at_least_once: bool = False
    forever: bool = False
    bounds: tuple[Expr, ...] = ()
    test: str = ""
    reads: tuple[Expr, ...] = ()


@dataclass(slots=True, eq=False)
class Switch:
    """`switch`: each arm falls through to the next unless it ends in `Break`."""

    arms: tuple[Block, ...]
    has_default: bool
    span: Span


@dataclass(slots=True, eq=False)
class Return:
    value: Expr | None
    span: Span
    site: Site | None = None


@dataclass(slots=True, eq=False)
class Break:
    span: Span


@dataclass(slots=True, eq=False)
class Continue:
    span: Span


@dataclass(slots=True, eq=False)
class Goto:
    """A jump to a label that stands later in the function; a backward jump is lowered to `Unknown`."""

    label: str
    span: Span


@dataclass(slots=True, eq=False)
class Label:
    name: str
    span: Span


@dataclass(slots=True, eq=False)
class Try:
    """`try { body } catch …`: each handler may start in any state that the body passes through."""

    body: Block
    handlers: tuple[Block, ...]
    span: Span
    all: bool = False  # no exception passes it: `catch (...)`


@dataclass(slots=True, eq=False)
class Unknown:
    """Something that lowering does not understand: it may do anything to whatever `parts` reach.

    `names` are the words of its text, in order, those of the macros that it uses too, with `LAUNCHES` where a kernel is
    launched; `called` are those of them that something is given to, with `a::` in front of them; methods begin with a
    dot. `names` is None where the text is not known; then `called` is the file that has it, if any. Without `parts`,
    `reaches` are the variables that it names: their addresses where it may change them.
    """

    why: str
    span: Span
    parts: tuple[Expr, ...] = ()
    names: tuple[str, ...] | None = None
    called: tuple[str, ...] = ()
    reaches: tuple[Expr, ...] = ()


Stmt: TypeAlias = (
    Call
    | Launch
    | Assign
    | Declare
    | HostAccess
    | If
    | Loop
    | Switch
    | Return
    | Break
    | Continue
    | Goto
    | Label
    | Try
    | Unknown
)
Block: TypeAlias = tuple[Stmt, ...]


def blocks_of(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    match stmt:
        case If():
            return stmt.then, stmt.other
        case Loop():
            return stmt.condition, stmt.body, stmt.step
        case Switch():
            return stmt.arms
        case Try():
            return (stmt.body, *stmt.handlers)
        case _:
            return ()


_WITH_BLOCKS = frozenset((If, Loop, Switch, Try))


def walk(block: Block) -> Iterator[Stmt]:
    """All statements of a block, nested ones too."""
    stack = list(reversed(block))
    while stack:
        stmt = stack.pop()
        yield stmt
        if type(stmt) in _WITH_BLOCKS:
            for inner in reversed(blocks_of(stmt)):
                stack.extend(reversed(inner))


class Param(NamedTuple):
    """A parameter; `default` is what a call that leaves it out gives it, if that is a literal or a variable."""

    name: str
    type: str
    by_reference: bool = False
    default: Expr | None = None
    optional: bool = False  # a call may leave it out
    constant: bool = False  # a reference to what is `const`
    rvalue: bool = False  # `T &&`
    open: bool = False  # it is a reference, or a copy

    @property
    def may_change(self) -> bool:
        """Whether the function may store in what a call gives for it."""
        return self.by_reference and not self.constant

    @property
    def takes_objects_only(self) -> bool:
        """Whether nothing is made for it: it is a reference that is bound to an object which is there, of its type or
        one derived from it (C++17, 11.6.3 [dcl.init.ref] 5).
        """
        return self.may_change and not self.rvalue


@dataclass(slots=True, eq=False)
class Function:
    """A host function. `name` is qualified (`ns::Class::f`); a lambda bound to a local is named
    `outer::<lambda@offset>`.

    `problems` are reasons to refuse every pair in it (a parse error, `setjmp`, a coroutine), with the offset of each.
    `internal` is true for `static` functions and anonymous namespaces. `types` gives the declared type of each
    variable. `captures` are the variables of the function around it that a lambda reaches, `copies` those of them that
    its closure is made of where it captures by copy: assigned where the lambda stands, and by nobody else. `object` is
    the one to which `this` leads if it captures `*this`. `bases` are the classes that the class of a method is derived
    from. `unwritten` are the classes, by last name component, of objects
    that may be assigned here where no assignment of theirs is lowered: objects that are given to a function which is
    not seen, or which takes any type, or that are assigned to something of a type that is not known. In it, `""` is a
    value that may be of any class (or a method that may be any), `NO_OBJECT` one that may be converted to one.
    `direct` is true if a call of its value is a call of it, with the arguments as its parameters one by one: in Python,
    no decorator has put another one in its place, and it is no generator. `by_reference` is true if the result of a
    call may be another name of what it returns. `also` are its other qualified names, of which a macro gives it one.
    `unbound` is true of a static member function, which has no object, and `dependent` where names of base classes may
    not be found without `this->` (C++17, 17.6.2 [temp.dep] 3). `templates` are the parameters of the template that it
    is, in order; "" stands for one that is no type, or has no name. `defaults` are their default arguments, "" where
    there is none, and `class_templates` the parameters of the class template that it is a method of.
    """

    name: str
    params: tuple[Param, ...]
    body: Block
    span: Span
    internal: bool = False
    cls: str | None = None
    types: dict[str, str] = field(default_factory=dict)
    problems: tuple[tuple[str, int], ...] = ()
    returns: str = "void"
    captures: frozenset[str] = frozenset()
    copies: frozenset[str] = frozenset()
    object: str = ""
    bases: tuple[str, ...] = ()
    unwritten: frozenset[str] = frozenset()
    direct: bool = True
    by_reference: bool = False
    also: tuple[str, ...] = ()
    unbound: bool = False
    dependent: bool = False
    templates: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    class_templates: tuple[str, ...] = ()
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def statements(self) -> tuple[Stmt, ...]:
        """All statements of the body, nested ones too, once it is lowered."""
        return self.kept("statements", lambda f: tuple(walk(f.body)))

    @property
    def arrays(self) -> frozenset[str]:
        """The names of the C arrays that the function declares."""
        return self.kept(
            "arrays", lambda f: frozenset(s.var.name for s in walk(f.body) if isinstance(s, Declare) and s.array)
        )

    def kept(self, fact: str, make: Callable[[Function], T]) -> T:
        """What `make` returns for this function, made once: programs and configurations share functions."""
        if fact not in self._kept:
            self._kept[fact] = make(self)
        return cast(T, self._kept[fact])


class DeviceCall(NamedTuple):
    """A call in device code: the name as written, "" for a call of a value; in which namespace or class it stands; and
    which parameters of the caller, and variables of the device, each argument may have come from.
    """

    name: str
    scope: str
    method: bool
    params: tuple[frozenset[int], ...]
    globals: tuple[frozenset[str], ...]
    libraries: tuple[str, ...] = ()  # the namespaces not of the program's in which a bare name is looked for too


@dataclass(slots=True, eq=False)
class Kernel:
    """What a `__global__` function (with what it calls on the device) may do. Indices are parameter positions.

    `calls_unknown` names device functions whose body was not seen and that are not device library functions: they may
    read and write everything that they are given; those that are not qualified by the namespace of a library may be the
    program's, and do anything. It `keeps` addresses if it may store one as a number or as bytes.
    `names` are the words of its text, and of the device functions that it calls, which its file does not declare: where
    another file includes this one, it may have a variable of such a name in front of that.

    In `Module.device` stand other device functions too, each without what it `calls`. `stores`: it may write through a
    member of its object, or through what it has from elsewhere. `member`: of a class.
    """

    name: str
    params: tuple[Param, ...]
    reads: frozenset[int]
    writes: frozenset[int]
    prints: bool
    traps: bool
    globals_read: frozenset[str]
    globals_written: frozenset[str]
    calls_unknown: frozenset[str]
    span: Span
    keeps: bool = False
    names: frozenset[str] = frozenset()
    stores: bool = False
    member: bool = False
    is_kernel: bool = True
    calls: tuple[DeviceCall, ...] = ()
    mentions: frozenset[str] = frozenset()  # what it calls without an expression of its own: default arguments, `begin`
    times: bool = False  # it reads a clock, and does more with it than wait

    @property
    def may_be_any(self) -> bool:
        """Whether it calls a function that is not seen and may be the program's: a bare name, or a method."""
        return any("::" not in name for name in self.calls_unknown)

    def facts(self) -> tuple[object, ...]:
        """All that is known of a kernel, wherever it stands; of equal kernels, it is printed alike."""
        known = (getattr(self, one.name) for one in fields(self) if one.name not in ("span", "calls"))
        calls = {(*call[:3], *(tuple(map(_in_order, part)) for part in call[3:5]), call[5]) for call in self.calls}
        return (*(_in_order(fact) if isinstance(fact, frozenset) else fact for fact in known), sorted(calls))


def _in_order(facts: frozenset[Any]) -> tuple[Any, ...]:
    return tuple(sorted(facts))


class Scopes(NamedTuple):
    """Where the names of a file may be found: the namespaces that it `declares`, and those that it `opens` by a `using`
    anywhere; other names of namespaces, with what they stand for. `values` are words that it does not only call.
    `types`: classes and other names of types, the words in what each is made of, and the functions that its
    initializers call.
    """

    declares: frozenset[str] = frozenset()
    opens: frozenset[str] = frozenset()
    aliases: frozenset[tuple[str, str]] = frozenset()
    values: frozenset[str] = frozenset()
    types: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = ()


@dataclass(slots=True, eq=False)
class GlobalVar:
    """A variable at namespace scope. `space` is `host`, `device`, `constant` or `managed`; `number` the integer that it
    is, if it is a constant that a literal initializes. It is `elsewhere` if it is only declared here. `unseen` is its
    class, or that of objects in it, if nothing is known of that.
    """

    name: str
    type: str
    space: str
    array: bool
    span: Span
    internal: bool = False
    number: str = ""
    elsewhere: bool = False
    unseen: str = ""


class Member(NamedTuple):
    """A data member of a class: its type as written, its declaration, and whether anybody may name it."""

    type: str
    span: Span
    public: bool = True


@dataclass(slots=True, eq=False)
class Module:
    """One file in one configuration of its `#if`s. `configuration` maps each condition's text to the branch taken."""

    path: str
    functions: tuple[Function, ...]
    kernels: tuple[Kernel, ...]
    globals: tuple[GlobalVar, ...]
    includes: tuple[str, ...]
    configuration: tuple[tuple[str, bool], ...] = ()
    check_style: tuple[str, str] | None = None  # the most common check wrapper of the file: ("CHECK(", ");")
    references: frozenset[str] = frozenset()  # functions used as values here: `cudaFree` as a deleter, a callback
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the types of its classes' data members
    fields: Mapping[str, Mapping[str, Member]] = field(default_factory=dict)  # the data members, by class
    types: frozenset[str] = frozenset()  # what may name a type and is no class: aliases, template parameters, macros
    brought: frozenset[str] = frozenset()  # the last name components of its using-declarations
    # the classes of which templates may make objects, and assign them; `FUNCTIONS` where containers call functions
    template_arguments: frozenset[str] = frozenset()
    namespaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # in which the names of one are found too
    # the functions that are declared, by last name component: of each its parameters that it may store in
    prototypes: Mapping[str, tuple[tuple[bool, ...], ...]] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()  # the classes of which templates may end objects
    device: tuple[Kernel, ...] = ()  # the functions that run on the device, kernels too, without what they call
    scopes: Scopes = field(default_factory=Scopes)
    # whether a string begins with a program that stays off the device, and whether one names what may ask it
    commands: tuple[bool, bool] = (False, False)
    measures: int | None = None  # where the text names, and does not call, what tells how much memory is free
    lost: tuple[tuple[int, str], ...] = ()  # allocations in text that is in no function, and why (the refusal's name)
    # the checks of headers that are not here, which are taken to evaluate what they are given
    checks: frozenset[str] = frozenset()
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of its classes
    # the data members that share memory with others, in a union: by name
    overlaid: Mapping[str, frozenset[str]] = field(default_factory=dict)
    unseen: frozenset[str] = frozenset()  # the classes of its objects of which it sees nothing
    second_names: frozenset[str] = frozenset()  # its variables at namespace scope that may have several names
    # what may be static data members of any class, by last name component, and which ones it sees of these
    members_by_name: Mapping[str, frozenset[str]] = field(default_factory=dict)
    of_c: frozenset[str] = frozenset()  # the last name components of those with C linkage
    friends: frozenset[str] = frozenset()  # the last name components of functions that may name private members
    # the last name components of the classes as which it may use objects of others; `*` for any
    retyped: frozenset[str] = frozenset("*")
    unseen_arguments: frozenset[str] = frozenset()  # the classes of which it sees nothing that templates of it get
    declares: frozenset[Prototype] = frozenset()  # the functions that it declares and does not define
    defines: frozenset[Defined] = frozenset()
    ended_virtually: frozenset[str] = frozenset()  # its classes that declare their destructor as virtual
    # the classes, by last name component, that a `std::unique_ptr` deletes here: whether all of these are lowered
    owned: Mapping[str, bool] = field(default_factory=dict)
