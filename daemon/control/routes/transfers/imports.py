"""The route by which files are imported.

Never reads a file: the client sends its text, so that the daemon opens nothing by a name from outside.
"""

from msgspec import Struct

from daemon.control.route import AsyncHandler, Call, Nothing, Route
from daemon.file_formats import join_alternatives, list_formats
from daemon.formats.core.importer import ImportResult
from daemon.formats.importing import FILE_BYTES_MAX, Imports, TextFile, Underway


class Import(Struct, frozen=True, forbid_unknown_fields=True):
    """A file's text, its name, and its format: {names}.

    A {titles} file of the same name updates what came before; another name is another list.
    `skip_faulty`: what cannot be read is left out and listed, instead of refusing the whole file.
    """

    format: str
    name: str
    text: str
    dry_run: bool = False
    skip_faulty: bool = False


# The description of the API shows it.
Import.__doc__ = (Import.__doc__ or "").format(
    names=join_alternatives(row.name for row in list_formats()),
    titles=join_alternatives(row.title for row in list_formats() if not row.keeps_ids),
)


def routes(imports: Imports) -> list[Route]:
    """Return the routes."""

    async def watch(call: Call[Nothing, Nothing]) -> list[Underway]:
        del call
        return imports.underway()

    async def run(call: Call[Import, Nothing]) -> ImportResult:
        body = call.body
        file = TextFile(body.format, body.name, body.text, body.skip_faulty)
        return await imports.run(file, dry_run=body.dry_run)

    return [
        Route(
            "GET",
            "/v1/import",
            "Say how far the imports under way are",
            AsyncHandler(watch),
            list[Underway],
        ),
        Route(
            "POST",
            "/v1/import",
            "Import a file; what an end half-way leaves out comes with the next import of it",
            AsyncHandler(run),
            ImportResult,
            Import,
            bytes_max=FILE_BYTES_MAX,
            writes_nothing=lambda body: body.dry_run,
        ),
    ]
