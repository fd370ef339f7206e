"""The texts of statements on views and triggers as servers write them into the log, with their definers."""

from __future__ import annotations

from forge.sql.ast.definitions import TableRef
from forge.sql.ast.objects import Account, CreateTrigger, ViewStatement
from forge.sql.write.identifiers import identifier, qualified


def view_sql(view: ViewStatement, definer: Account, current: str) -> str:
    """CREATE or ALTER VIEW; ``current`` is the session's database, which the view's name is written without."""
    words = "CREATE OR REPLACE" if view.replaces else view.verb.upper()
    condition = "IF NOT EXISTS " if view.exists else ""
    columns = f"({', '.join(map(identifier, view.columns))})" if view.columns else ""
    return (
        f"{words} ALGORITHM={view.algorithm} DEFINER={_account(definer)} SQL SECURITY {view.security}"
        f" VIEW {condition}{table_sql(view.name, current)}{columns} AS {view.body}"
    )


def trigger_sql(trigger: CreateTrigger, definer: Account) -> str:
    """CREATE TRIGGER: behind the definer the text goes on as it was sent."""
    return f"CREATE DEFINER={_account(definer)} {trigger.text}"


def table_sql(table: TableRef, current: str) -> str:
    """A name in a statement, without the current database."""
    return qualified(table.database or current, table.name, current)


def _account(account: Account) -> str:
    user, host = account
    return identifier(user) + (f"@{identifier(host)}" if host or user else "")
