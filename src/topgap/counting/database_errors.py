"""What went wrong at a database, in our own words: a server's words quote data and passwords."""

import re

from topgap.errors import SourceError

_BY_STATE = {
    "28": "{label} refuses this user or password.",
    "3D000": "{label}: the server has no such database.",
    "42501": "{label}: this user may not read this table or reach this database.",
    "42601": "The query cannot be parsed by the database; it must be one SELECT.",
    "42P05": "The query must be one SELECT, and nothing else.",
    "42": "The query cannot be run: {label} lacks a table, column or function that it names, or "
    "its types do not match.",
    "57014": "{label}: the server cancelled the query.",
    "57": "The connection to {label} was closed by the server.",
    "08": "The connection to {label} was lost.",
    "25": "The query must be one SELECT, and change nothing.",
    "0A": "The query must be one SELECT that the database can run inside another one.",
    "21": "The query failed while it ran.",
    "22": "The query failed while it ran, such as in a cast of a value that cannot be cast.",
    "53": "{label}: the server has no memory, disk or connections left.",
}
# A server's sentence begins so; the data that it quotes come later in it.
_WHILE_RUNNING = {
    "query would be affected by row-level security": "{label}: a row-level security policy hides "
    "rows by a rule that is not checked; use a role that sees all rows, or "
    "confirm that each row comes from only one person's rows (rows_are_per_person=True, "
    "--rows-are-per-person).",
    "canceling statement due to statement timeout": "{label}: the query took longer than the "
    "server allows (statement_timeout).",
    "canceling statement": "{label}: the server cancelled the query.",
    "terminating connection": "The connection to {label} was closed by the server.",
    "server closed the connection": "The connection to {label} was lost.",
    "no connection to the server": "The connection to {label} was lost.",
    "SSL SYSCALL": "The connection to {label} was lost.",
    "SSL error": "The connection to {label} was lost.",
}
_SENTENCES = re.compile(r"(?:^|\n|(?:ERROR|FATAL|PANIC|\[libpq\]|query|\]):\s+)([a-zS].*)")
NO_ADDRESS = (
    "{label} is not a valid address; write special characters in a user or password as %40, or "
    "leave the password out."
)
_WHILE_CONNECTING = {
    "password authentication failed": "{label} refuses this user or password.",
    "no password supplied": "{label} asks for a password; set PGPASSWORD, or write it to "
    "~/.pgpass or to a service file.",
    "authentication failed": "{label} refuses this user.",
    "no pg_hba.conf entry": "{label} does not admit this user from here.",
    "role": "{label} refuses this user.",
    "definition of service": "{label}: there is no such service in the service file.",
    "service file": "{label}: the service file cannot be read.",
    "does not exist": "{label}: the server has no such database or user.",
    "Connection refused": "{label}: no server listens there.",
    "No such file or directory": "{label}: no server listens there.",
    "could not translate host name": "{label}: there is no host with this name.",
    "timeout expired": "{label}: the server does not answer.",
    "timed out": "{label}: the server does not answer.",
    "No route to host": "{label}: the server cannot be reached.",
    "Network is unreachable": "{label}: the server cannot be reached.",
    "invalid response": "{label}: the server there is not PostgreSQL.",
    "invalid port": NO_ADDRESS,
    "invalid integer": NO_ADDRESS,
    "URI": NO_ADDRESS,
    "too many": "{label}: the server has no connections left.",
    "starting up": "{label}: the server is starting or stopping.",
    "shutting down": "{label}: the server is starting or stopping.",
}


def explain_failure(
    error: BaseException, label: str, *, is_connecting: bool = False
) -> SourceError:
    """Make the error for a failure of a database, from its code or from words without data.

    Args:
        error: What the driver raised.
        label: What to call the database.
        is_connecting: Whether there is no connection yet.
    """
    text = str(error)
    state = getattr(error, "sqlstate", None) or ""
    found = ""
    if is_connecting:
        found = next((said for words, said in _WHILE_CONNECTING.items() if words in text), "")
    elif not state or state in {"42501", "57014"}:
        # Words of a server in another language are not known: a sentence for all of them follows.
        starts = [*_SENTENCES.findall(text)]
        for words, said in _WHILE_RUNNING.items():
            found = found or (said if any(each.startswith(words) for each in starts) else "")
    for length in (5, 2):
        found = found or _BY_STATE.get(state[:length], "")
    if not found and is_connecting:
        found = "{label}: no connection can be made."
    return SourceError(
        (found or "{label} cannot be read: the query was stopped, or failed as it ran.").format(
            label=label
        )
    )
