"""What the checks of a gate came to: a table, JUnit XML, a summary in markdown."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

from vringlab import _native
from vringlab.gates import Check, GateStatus, Verdict, status_of

_PASSES = (Verdict.PASSED, Verdict.IMPROVED)


def table(checks: Sequence[Check]) -> str:
    """One line a check, and one for all."""
    width = max([len(check.scenario) for check in checks], default=0)
    lines = [f"{c.scenario:{width}}  {c.kind:12}  {c.verdict.value:14}  {c.detail}" for c in checks]
    return "\n".join([*lines, conclusion(checks)])


def conclusion(checks: Sequence[Check]) -> str:
    """In one line.

    >>> conclusion([])
    'nothing run: 0 of 0 checks passed'
    """
    passed = sum(check.verdict in _PASSES for check in checks)
    status = status_of(checks).name.lower().replace("_", " ")
    return f"{status}: {passed} of {len(checks)} checks passed"


def markdown(checks: Sequence[Check]) -> str:
    """For the summary of a CI job."""
    cells = [(c.scenario, c.kind, c.verdict.value, _cell(c.detail)) for c in checks]
    rows = [f"| {' | '.join(row)} |" for row in cells]
    title = f"### vringlab {_native.version} gate: {conclusion(checks)}"
    return "\n".join([title, "", "| scenario | what | verdict | |", "|---|---|---|---|", *rows, ""])


def junit(checks: Sequence[Check]) -> str:
    """A JUnit report: a regression is a failure, what could not be checked an error.

    Nothing run is an error too: a report without tests looks like one that passed.
    """
    failures = sum(check.verdict is Verdict.REGRESSED for check in checks)
    errors = sum(check.verdict not in (*_PASSES, Verdict.REGRESSED) for check in checks)
    suite = ElementTree.Element("testsuite", name="vringlab gate")
    for check in checks:
        _add_case(suite, check)
    if status_of(checks) is GateStatus.NOTHING_RUN:
        errors = 1
        case = ElementTree.SubElement(suite, "testcase", classname="vringlab.gate", name="gate")
        ElementTree.SubElement(case, "error", message="nothing run")
    suite.attrib |= {"tests": str(len(suite)), "failures": str(failures), "errors": str(errors)}
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_case(suite: ElementTree.Element, check: Check) -> None:
    name = f"{check.scenario}: {check.kind}"
    case = ElementTree.SubElement(suite, "testcase", classname="vringlab.gate", name=name)
    if check.verdict in _PASSES:
        ElementTree.SubElement(case, "system-out").text = check.detail
        return
    kind = "failure" if check.verdict is Verdict.REGRESSED else "error"
    message = f"{check.verdict.value}: {check.detail}"
    ElementTree.SubElement(case, kind, message=_printable(message))


def _printable(text: str) -> str:
    """XML has no way to write most control characters."""
    return "".join(c if c.isprintable() or c in "\t\n" else "?" for c in text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
