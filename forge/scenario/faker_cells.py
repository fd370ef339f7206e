"""Cells that providers of Faker make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from forge.errors import ScenarioError, nearest
from forge.scenario.counter_hash import CounterRandom

#: What these Faker providers give depends on the day.
_DATED_MODULE = "faker.providers.date_time"
_UNDATED = ("century", "timezone", "pytimezone")
_DATED = ("profile", "simple_profile", "credit_card_expire", "credit_card_full", "passport_dob", "passport_dates",
          "passport_full", "ssn")  # fmt: skip

#: How many characters, words, items or digits a provider is asked for at most.
_MOST = 1_000_000
#: Arguments that say between which values a value lies, and may be any.
_BOUNDS = frozenset(("max", "max_value", "min", "min_value", "step", "start", "stop", "seed"))


def faker_cells(name: str, locale: str, arguments: Mapping[str, Any]) -> Callable[[int], Any]:
    """What a provider gives for a number that stands for the cell.

    Raises ScenarioError, at once or by the function, for a locale and a provider that Faker lacks, providers that look
    at the calendar, and wrong arguments.
    """
    source = _source(locale)
    method = _method(locale, name)
    for argument, value in arguments.items():
        if isinstance(value, (int, float)) and abs(value) > _MOST and argument not in _BOUNDS:
            raise ScenarioError(f"faker {name}: {argument} is {value}", expected=f"at most {_MOST}")

    def cell(number: int) -> Any:
        source.seed(number)
        try:
            value = method(**arguments)
        except Exception as error:  # noqa: BLE001 - providers raise whatever they like for wrong arguments
            raise ScenarioError(f"faker {name} failed: {error}") from None
        return list(value) if isinstance(value, (tuple, set)) else value

    return cell


@cache
def _instance(locale: str) -> Any:
    from faker import Faker

    try:
        return Faker(locale)
    except (AttributeError, ValueError):
        raise ScenarioError(f"faker has no locale {locale!r}", expected="one such as de_DE") from None


@cache
def _source(locale: str) -> CounterRandom:
    """Where the providers of a locale take their numbers from."""
    source = CounterRandom()
    for factory in _instance(locale).factories:
        factory.random = source
        # Some providers ask the system for numbers unless somebody has seeded their own.
        factory.seed_instance(0)
    return source


@cache
def _method(locale: str, name: str) -> Callable[..., Any]:
    """The provider's method.  Raises ScenarioError for unknown ones, and for those that look at the calendar."""
    names = _provider_names(locale)
    if name not in names:
        raise ScenarioError(f"faker has no provider {name!r}", suggestion=nearest(name, names))
    if _is_dated(locale, name):
        raise ScenarioError(
            f"faker {name} depends on today's date, and the file would change from day to day",
            expected="{datetime: {from: 2020-01-01, to: 2030-01-01}}",
        )
    method: Callable[..., Any] = getattr(_instance(locale), name)
    return method


def faker_providers(locale: str = "en_US") -> list[str]:
    """The providers of Faker that ``{faker: name}`` takes.  Raises ScenarioError for a locale that Faker lacks."""
    return sorted(name for name in _provider_names(locale) if not _is_dated(locale, name))


@cache
def _provider_names(locale: str) -> frozenset[str]:
    return frozenset(
        attribute
        for provider in _instance(locale).factories[0].get_providers()
        for attribute in dir(provider)
        if not attribute.startswith("_") and callable(getattr(provider, attribute))
    )


def _is_dated(locale: str, name: str) -> bool:
    """Whether what a provider gives depends on today's date."""
    for provider in _instance(locale).factories[0].get_providers():
        own = getattr(type(provider), name, None)
        module = getattr(own, "__module__", "")
        dated = module.startswith(_DATED_MODULE) and name not in _UNDATED
        dated = dated or (name in _DATED and module != "faker.providers.ssn.en_US")
        if own is not None and dated:
            return True
    return False
