"""The display of base inertial parameters by `rbdc info --identifiability`."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from rbdc.analysis.combinations import combinations
from rbdc.analysis.constants import check, named
from rbdc.analysis.identifiability import Identifiability, identifiability
from rbdc.errors import UnsupportedError
from rbdc.model import Model
from rbdc.model.xml import shown


def as_data(model: Model) -> dict[str, Any]:
    """The base parameters as plain data: names of parameters, each combination by its terms and as a formula,
    what no torque depends on, and the singular values between which the rank lies.
    """
    found = identifiability(model)
    formulas, constants = _in_symbols(model) or ([found.words(c) for c in found.base], {})
    dropped = found.singular_values[found.rank :]
    return {
        "parameters": len(found.names),
        "rank": found.rank,
        "base": [
            {"formula": formula, "terms": [[found.names[c.leading], 1.0], *_terms(found, c.terms)]}
            for formula, c in zip(formulas, found.base, strict=True)
        ],
        "constants": constants,
        "unseen": [found.names[k] for k in found.unseen],
        "smallest_kept": found.singular_values[found.rank - 1] / found.singular_values[0],
        "largest_dropped": dropped[0] / found.singular_values[0] if dropped else 0.0,
    }


def _terms(found: Identifiability, terms: tuple[tuple[int, float], ...]) -> list[list[Any]]:
    return [[found.names[k], factor] for k, factor in terms]


def _in_symbols(model: Model) -> tuple[list[str], dict[str, float]] | None:
    """The combinations with lengths as constants, for small robots."""
    try:
        check(model)
    except UnsupportedError:
        return None
    exact = combinations(named(model))
    if exact is None:
        return None
    names = identifiability(model).names
    formulas = []
    for leading, terms in exact[0]:
        text = names[leading]
        for k, factor in terms:
            sign = "-" if factor.could_extract_minus_sign() else "+"
            size = -factor if sign == "-" else factor
            text += f" {sign} {'' if size == 1 else f'({size}) ' if size.is_Add else f'{size} '}{names[k]}"
        formulas.append(text)
    return formulas, {constant.name: constant.value for constant in exact[1]}


def show(data: dict[str, Any]) -> None:
    """The summary that `as_data` gives, on the terminal."""
    console = Console(soft_wrap=True)
    console.print(
        f"of {data['parameters']} inertial parameters torques determine {data['rank']} combinations, "
        f"and {len(data['unseen'])} do not matter by themselves or together; relative singular values "
        f"{data['smallest_kept']:.2g} and {data['largest_dropped']:.2g}"
    )
    for name, value in data["constants"].items():
        console.print(Text(f"  {name} = {value:.15g}"))
    for combination in data["base"]:
        console.print(Text(f"  {shown_whole(combination['formula'])}"))
    if data["unseen"]:
        console.print(Text(f"without effect: {', '.join(map(shown, data['unseen']))}"))


def shown_whole(text: str) -> str:
    """Text with names from a description, of any length, printable."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
