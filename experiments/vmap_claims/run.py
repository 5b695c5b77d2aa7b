"""The argument on the mailing list about direct access, decided by the model, claim by claim."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from vringlab.experiments.vmap_claims import (
    claim_a,
    claim_b,
    claim_c,
    claim_d,
    claim_e,
    claim_f,
    claim_g,
    claim_h,
)
from vringlab.experiments.vmap_claims.base import Runs
from vringlab.experiments.vmap_claims.figures import FIGURES, draw
from vringlab.experiments.vmap_claims.flips import Sensitivity, sensitivities
from vringlab.experiments.vmap_claims.report import (
    CLAIM_COLUMNS,
    FLIP_COLUMNS,
    Claim,
    claim_row,
    flip_row,
    report,
)
from vringlab.results import write_table

CLAIMS = (claim_a, claim_b, claim_c, claim_d, claim_e, claim_f, claim_g, claim_h)


def main(folder: Path, check: bool) -> None:
    """Writes claims.csv, flips.csv, report.md, and a table and perhaps a figure a claim.

    A verdict is a result, whatever it is: there is nothing more to check.
    """
    run = Runs()
    answers = sensitivities(q for claim in CLAIMS for q in claim.QUESTIONS)
    claims = [_claim(claim, answers, run) for claim in CLAIMS]
    effects = [effect for answer in answers for effect in answer.effects]
    write_table(folder / "claims.csv", CLAIM_COLUMNS, map(claim_row, answers))
    write_table(folder / "flips.csv", FLIP_COLUMNS, map(flip_row, effects))
    for claim in claims:
        write_table(folder / f"{claim.letter}.csv", claim.columns, claim.rows)
        if claim.figure:
            table = [dict(zip(claim.columns, row, strict=True)) for row in claim.rows]
            draw(claim.letter, table, folder / f"{claim.letter}.png")
    (folder / "report.md").write_text(report(claims), encoding="utf-8", newline="\n")


def _claim(module: ModuleType, answers: Sequence[Sensitivity], run: Runs) -> Claim:
    letter = module.QUESTIONS[0].claim
    own = tuple(answer for answer in answers if answer.question.claim == letter)
    rows = module.table(run)
    return Claim(letter, module.TITLE, module.NOTE, own, module.COLUMNS, rows, letter in FIGURES)
