"""Bodies of the loops of second derivatives by paths, traced from the operators of inverse dynamics
(`rbdc.algorithms.derivatives.second_order`, whose symbols they have).

`state`: s, psidot, psiddot, sigma (6 each), m, h (3), J (6), p (3), N (9), force (6) of a degree of freedom.
`op`: (f, n) = I s, L (6), b (3), p' (3), N' (9) of A3, fq (6), fv (6). Weighted sums H, L, b of (f, n), L, b
are operators, too, with Q2 = A0 s, Q1 = u8 and R = u11; Y is such a sum of s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

from rbdc.algorithms.derivatives.second_order import Operators, Subtree
from rbdc.algorithms.dynamics.coriolis import Direction
from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.lanes import LaneProgram, in_lanes
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.verify import verify
from rbdc.spatial import Force, Inertia, Matrix3, Motion, Scalar, Symmetric3, Vector3

Vector = list[Scalar]
Results = Sequence[tuple[str, str, Vector]]
"""The formula, the name and the entries of each result."""
Entries = Callable[..., Mapping[str, Results]]
"""From the arguments of a body, by their names, to what goes to each output."""
NONE: Mapping[str, int] = {}


_PITCHES = {
    name: pitch
    for pitch, names in {
        "N": "state at s d k sd sk w pw i",
        "COLUMNS": "op o od own sums g gd l_sum lb row weights r",
        "PITCH": "beside",
        "ROW": "y h f to",
        "1": "force terms",
        "": "v vv qv by_q by_v made",
    }.items()
    for name in names.split()
}
"""By argument how far in C its entries are from each other; all outputs but those of pitch 1 are vectors."""


_BODIES: dict[str, Callable[[int], LaneProgram]] = {}
"""The bodies, by the lanes of their vectors."""


def _body(
    name: str, numbers: Mapping[str, int] = NONE, vectors: Mapping[str, int] = NONE
) -> Callable[[Entries], Entries]:
    """Enters what a function gives of its arguments, numbers and vectors of so many entries each, as a body,
    whose formula is the function's docstring.
    """

    def enter(entries: Entries) -> Entries:
        _BODIES[name] = partial(_traced, name, entries, numbers, vectors)
        return entries

    return enter


def _traced(
    name: str, entries: Entries, numbers: Mapping[str, int], vectors: Mapping[str, int], lanes: int
) -> LaneProgram:
    given = {key: symbols(key, size) for key, size in {**numbers, **vectors}.items()}
    recorder = Recorder()
    outputs: dict[str, Vector] = {}
    for key, results in entries(**given).items():
        outputs[key] = [x for _, _, values in results for x in values]
        for formula, symbol, values in results:
            recorder.record("", formula, symbol, values)
    program = verify(optimise(from_casadi(name, list(given.items()), list(outputs.items()), recorder)))
    pitches = {key: _PITCHES[key] for key in (*given, *outputs)}
    wide = dict.fromkeys((*vectors, *(key for key in outputs if pitches[key] != "1")), lanes)
    return LaneProgram(str(entries.__doc__), in_lanes(program, wide), pitches)


@lru_cache
def path_bodies(names: Sequence[str], lanes: int) -> tuple[LaneProgram, ...]:
    """The bodies of these names."""
    return tuple(_BODIES[name](lanes) for name in names)


def _motions(values: Sequence[Scalar]) -> list[Motion]:
    return [Motion.of(values[k : k + 6]) for k in range(0, len(values), 6)]


def _direction(at: Sequence[Scalar]) -> Direction:
    """From s and, as far as they are given, psidot, psiddot and sigma, which of a joint with one direction is
    2 psidot.
    """
    motions = _motions(at)
    motions += [Motion.zero() for _ in range(3 - len(motions))]
    return Direction(*motions, *[] if len(motions) > 3 else [motions[1] + motions[1]])


def _operators(op: Sequence[Scalar]) -> Operators:
    """From their entries as far as they are given."""
    op = [*op, *(0.0 for _ in range(39 - len(op)))]
    b, p3 = Vector3.of(op[12:15]), Vector3.of(op[15:18])
    i_s, by_q, by_v = (Force.of(op[k : k + 6]) for k in (0, 27, 33))
    return Operators(i_s, Symmetric3(*op[6:12]), p3, Matrix3.of(op[18:27]), b, by_q, by_v)


@_body("operators", vectors={"state": 52})
def _of_subtrees(state: Vector) -> Mapping[str, Results]:
    """Operators of the degrees of freedom."""
    own = Subtree(
        Inertia.of(state[24:34]), Vector3.of(state[34:37]), Matrix3.of(state[37:46]), Force.of(state[46:52])
    )
    made = Operators.of(_direction(state[:24]), own)
    return {
        "op": [
            ("(f, n) = I s", "f", made.i_s.scalars()),
            ("L = [w]J - J[w] + 2 (u.h) 1 - h u^T - u h^T", "l", made.symmetric.scalars()),
            ("b = p x u + N^T w", "b", made.b.scalars()),
            ("A3: p' = w x p + 2 f'", "p", made.p3.scalars()),
            ("N' = [w]N - N[w] - [u][p] + L' - [n']", "n", made.n3.scalars()),
            ("fq = B psidot + I psiddot + s x* force", "fq", made.by_q.scalars()),
            ("fv = B s + I sigma", "fv", made.by_v.scalars()),
        ]
    }


@_body("columns", {"op": 39}, {"at": 18})
@_body("columns_of_several", {"op": 39}, {"at": 24})
def _columns(op: Vector, at: Vector) -> Mapping[str, Results]:
    """For one degree of freedom and directions of its path: forces on what is above, and beside."""
    o, m = _operators(op), _direction(at)
    forces = o.above(m)
    beside: list[tuple[str, str, Vector]] = [
        ("u8 = w x b - u11 of psidot", "u8", o.u8(m).scalars()),
        ("u9 = s x* (f, n)", "u9", forces.a0.scalars()),
        ("u11 = 2 f x u + L w + n x w", "u11", o.u11(m.s).scalars()),
    ]
    formulas = ("A3 psidot + A1 psiddot", "and s x* fq", "A3 s + A1 sigma", "B(I, s) psidot", "and s x* fv")
    named = zip((*formulas, "A1 s", "A0 s"), forces._asdict().items(), strict=True)
    return {
        "v": [(formula, name, force.scalars()) for formula, (name, force) in named],
        "beside": beside if len(at) == 18 else [*beside, ("A1 s", "a1", forces.a1.scalars())],
    }


@_body("columns_of_root", {"op": 39}, {"at": 24})
def _root_columns(op: Vector, at: Vector) -> Mapping[str, Results]:
    """For one degree of freedom and directions of a free root, of which psidot is zero."""
    o, m = _operators(op), _motions(at)
    return {
        "v": [
            ("A1 s", "a1", o.a1(m[0]).scalars()),
            ("A0 s", "a0", o.a0(m[0]).scalars()),
            ("A3 s + A1 sigma", "moved", (o.a3(m[0]) + o.a1(m[3])).scalars()),
            ("A1 psiddot, psiddot = (g x e, 0)", "qq", o.i_s.linear.cross(m[2].linear).scalars()),
        ]
    }


@_body("of_one_joint", {"d": 34, "k": 6})
def _of_one_joint(d: Vector, k: Vector) -> Mapping[str, Results]:
    """The force of two directions of one joint that meet."""
    first, other = Motion.of(d[:6]), Motion.of(k)
    return {"force": [("I (s_d x s_y)", "f", (Inertia.of(d[24:34]) @ first.cross(other)).scalars())]}


@_body("rows_of", vectors={"s": 12, "op": 27, "own": 21})
def _rows(s: Vector, op: Vector, own: Vector) -> Mapping[str, Results]:
    """Rows of degrees of freedom from sums Y, H, L and b of weighted ones."""
    d, o, y = _direction(s), _operators(op), Motion.of(own[:6])
    sums = _operators(own[6:])
    by_rate = o.p3.cross(y.linear) + o.n3.apply_transposed(y.angular) + sums.u8(d)
    return {
        "row": [
            ("A3^T y + Q1", "rate", by_rate.scalars()),
            ("A1 y + s x* H", "second", (o.a1(y) + sums.a0(d.s)).scalars()),
            ("B(I, s)^T y - R", "motion", (o.u11(y) - sums.u11(d.s)).scalars()),
            ("y x s", "turned", y.cross(d.s).scalars()),
        ]
    }


@_body("pair", {"sd": 6, "gd": 6, "od": 6, "sums": 12}, {"s": 6, "g": 6, "o": 6})
def _pair(
    sd: Vector, gd: Vector, od: Vector, sums: Vector, s: Vector, g: Vector, o: Vector
) -> Mapping[str, Results]:
    """vv of two directions of a joint: (y x s_d) . I s_k + (y x s_k) . I s_d - s_d . A1 s_k of the sums."""
    a1 = _operators(sums).a1(Motion.of(s))
    both = Motion.of(gd).dot(Force.of(o)) + Motion.of(g).dot(Force.of(od))
    return {"vv": [("", "vv", [both - Motion.of(sd).dot(a1)])]}


@_body("weigh", {"s": 12}, {"y": 6, "h": 6, "lb": 9})
def _weights(s: Vector, y: Vector, h: Vector, lb: Vector) -> Mapping[str, Results]:
    """Weights of a degree of freedom for every row of M^-1."""
    d, sums = _direction(s), _operators([*h, *lb])
    return {
        "weights": [
            ("-Y", "y", (-Motion.of(y)).scalars()),
            ("-Q2 = -s x* H", "q2", (-sums.a0(d.s)).scalars()),
            ("-Q1 = 2 f x u + L w + n x w of psidot - w x b", "q1", (-sums.u8(d)).scalars()),
        ],
        "r": [("R = 2 f x u + L w + n x w", "r", sums.u11(d.s).scalars())],
    }


@_body("terms_of_columns", {"s": 6, "op": 12}, {"y": 6, "h": 6})
def _terms(s: Vector, op: Vector, y: Vector, h: Vector) -> Mapping[str, Results]:
    """Factors of the weights of a degree of freedom for every column of X."""
    o, motion = _operators(op), Motion.of(y)
    turned = o.a1(motion) + Motion.of(s).cross_force(Force.of(h))
    return {"to": [("A1 Y + s x* H", "a", turned.scalars()), ("Y", "y", motion.scalars())]}


@_body("terms_above", {"op": 27}, {"at": 24})
def _terms_above(op: Vector, at: Vector) -> Mapping[str, Results]:
    """Factors of weights by q and by v of what is above."""
    o, m = _operators(op), _direction(at)
    return {
        "by_q": [
            ("A3 psidot + A1 psiddot", "q", (o.a3(m.psi_rate) + o.a1(m.psi_second)).scalars()),
            ("psiddot, w(psidot)", "m", [*m.psi_second.scalars(), *m.psi_rate.angular.scalars()]),
        ],
        "by_v": [
            ("A3 s + A1 sigma", "v", (o.a3(m.s) + o.a1(m.sigma)).scalars()),
            ("sigma, w", "m", [*m.sigma.scalars(), *m.s.angular.scalars()]),
        ],
    }


@_body("own_terms", {"op": 33, "at": 24})
def _own_terms(op: Vector, at: Vector) -> Mapping[str, Results]:
    """Factors of weights by q of a direction of the own joint."""
    o, m = _operators(op), _direction(at)
    force = o.a3(m.psi_rate) + o.a1(m.psi_second) + m.s.cross_force(o.by_q)
    rates = [*m.psi_second.scalars(), *m.psi_rate.angular.scalars()]
    return {
        "terms": [("A3 psidot + A1 psiddot + s x* fq, psiddot, w(psidot)", "q", [*force.scalars(), *rates])]
    }


@_body("turned", {"s": 6}, {"o": 6})
def _turned(s: Vector, o: Vector) -> Mapping[str, Results]:
    """s x* forces."""
    return {"made": [("s x* f", "f", Motion.of(s).cross_force(Force.of(o)).scalars())]}


@_body("by_velocities", {"op": 12}, {"w": 3, "pw": 3})
def _velocities(op: Vector, w: Vector, pw: Vector) -> Mapping[str, Results]:
    """For one degree of freedom and directions of its path, by w(s) and w(psidot)."""
    o, zero = _operators(op), Vector3.zero()
    made = [o.b_s(Motion(zero, Vector3.of(x))).scalars() for x in (w, pw)]
    return {"vv": [("B(I, s) s", "vv", made[0])], "qv": [("B(I, s) psidot", "qv", made[1])]}


@_body("pair_of_sums", {"sd": 6, "sk": 6, "i": 10}, {"f": 3, "l_sum": 6, "y": 6})
def _pair_of_sums(
    sd: Vector, sk: Vector, i: Vector, f: Vector, l_sum: Vector, y: Vector
) -> Mapping[str, Results]:
    """vv of two directions of one joint: s_k . A1 s_d of the sums - y . (s_d x* I s_k + s_k x* I s_d)."""
    d, k, inertia, above = Motion.of(sd), Motion.of(sk), Inertia.of(i), Motion.of(y)
    sums = _operators([*f, 0.0, 0.0, 0.0, *l_sum])
    both = d.cross_force(inertia @ k) + k.cross_force(inertia @ d)
    return {"vv": [("", "vv", [k.dot(sums.a1(d)) - above.dot(both)])]}
