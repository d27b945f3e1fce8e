#!/usr/bin/env python3
"""One source under any spelling is one source: for the catalog, for the records, and as a base. A file is never the
folder around it."""

import os
import sqlite3

from support import DAMAGED, USAGE, E2ETest, main, tree_state


class Spellings(E2ETest):
    def spellings(self, folder):
        link = self.path("link-" + os.path.relpath(folder, self.work).replace(os.sep, "-"))
        if not os.path.lexists(link):
            os.symlink(folder, link)
        above, name = os.path.split(folder)
        return [
            folder,
            folder + "/",
            folder + "//.",
            "file://" + folder,
            "file://localhost" + folder + "/",
            "file://" + folder.replace("bucket", "%62ucket").replace("base", "%62ase"),
            os.path.join(above, ".", name),
            os.path.join(folder, "..", name),
            link,
            link + "/",
            os.path.relpath(folder),
            "./" + os.path.relpath(folder),
        ]

    def rows(self, database, table):
        """Every source that a table knows, with its number of rows."""
        with sqlite3.connect(os.path.join(self.home, database)) as db:
            return dict(db.execute(f"SELECT source, count(*) FROM {table} GROUP BY source"))

    def test_catalog_and_records_know_one_source(self):
        for layout in ("trl-v2", "slime-v2"):
            with self.subTest(layout=layout):
                made = self.make_run(layout, layout=layout)
                bases = self.spellings(made.base) if made.base else [None] * 12
                known = None
                for source, base in zip(self.spellings(made.source), bases):
                    options = ["--base", base] if base else []
                    document = self.ok_json("verify", source, "--level", 3, *options)
                    tables = {
                        (database, table): self.rows(database, table)
                        for database, table in (
                            ("cache/catalog.sqlite", "layout"),
                            ("cache/catalog.sqlite", "version"),
                            ("cache/catalog.sqlite", "facts"),
                            ("state/records.sqlite", "sight"),
                        )
                    }
                    known = known or (document["source"], tables)
                    self.assertEqual((document["source"], tables), known, source)

    def test_what_was_rewritten_is_seen_under_every_spelling(self):
        made = self.make_run()
        self.ok("verify", made.source + "/.", "--level", 2)
        victim = os.path.join(made.source, "anchors", sorted(os.listdir(os.path.join(made.source, "anchors")))[0])
        then = os.stat(victim).st_mtime_ns
        with open(victim, "r+b") as f:
            f.seek(-1, os.SEEK_END)
            last = f.read(1)[0]
            f.seek(-1, os.SEEK_END)
            f.write(bytes([last ^ 1]))
        os.utime(victim, ns=(then, then))
        for source in self.spellings(made.source):
            with self.subTest(source=source):
                outcome = self.run_ds("verify", source, "--level", 2)
                self.assertEqual(outcome.code, DAMAGED, str(outcome))
                self.assertIn("DS-REWRITTEN", outcome.out)

    def test_nothing_is_written_into_a_source_under_any_spelling(self):
        made = self.make_run()
        before = tree_state(made.source)
        for source in self.spellings(made.source):
            for inside in (made.source + "/out", self.spellings(made.source)[8] + "/deltas/../out"):
                with self.subTest(source=source, inside=inside):
                    self.refused(self.run_ds("materialize", source + "@3", "-o", inside), USAGE, "DS-USAGE")
        self.assertEqual(tree_state(made.source), before)
        beside = made.source + "-out"
        self.ok("materialize", "file://" + made.source + "@3", "-o", beside)
        self.assert_checkpoint(beside, made.truth(3))

    def test_a_file_is_not_the_run_around_it(self):
        made = self.make_run("slime", layout="slime-v2")
        stray = os.path.join(made.source, "notes.safetensors")
        with open(stray, "w", encoding="utf-8") as f:
            f.write("no tensors")
        for file in (stray, "file://" + stray):
            for command in (
                ("log", file),
                ("show", file),
                ("ls", file),
                ("verify", file),
                ("materialize", file, "-o", self.path("out")),
                ("publish", "--from", made.base, "--to", made.base, "--layout", "trl-v2", "--into", file),
                ("publish", "--watch", file, "--layout", "trl-v2", "--into", self.path("run")),
                ("watch", file),
                ("cost", file),
                ("stats", file, "w"),
                ("log", made.source, "--base", file),
                ("export", file, "--bundle", self.path("x.dscope")),
            ):
                with self.subTest(command=command):
                    outcome = self.run_ds(*command)
                    self.refused(outcome, 2, "DS-USAGE")
                    self.assertIn("notes.safetensors", outcome.err)
            for command in (("digest", file), ("diff", file, made.base)):
                with self.subTest(command=command):
                    self.refused(self.run_ds(*command), DAMAGED)
            with self.subTest(command="doctor"):
                outcome = self.run_ds("doctor", file)
                self.assertNotEqual(outcome.code, 0, str(outcome))
                self.assertIn("this is a file", outcome.out)


if __name__ == "__main__":
    main()
