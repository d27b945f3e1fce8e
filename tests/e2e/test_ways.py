#!/usr/bin/env python3
"""A step that can be had in two ways: where an object proves damaged or lost on the one, the act begins again along the
other and says so; where there is no other, it is refused by name."""

import json
import os
import shutil

from support import DAMAGED, E2ETest, main, read_checkpoint

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "grail")
WINDOW = "grail/checkpoints/checkpoint-2700/"
FULL = WINDOW + "FULL/model.safetensors"
DELTA = WINDOW + "DELTA/delta_sparse.bin.zst"


def flip(path, place=-5):
    with open(path, "r+b") as f:
        f.seek(place, os.SEEK_END)
        byte = f.read(1)[0]
        f.seek(place, os.SEEK_END)
        f.write(bytes([byte ^ 4]))


class Ways(E2ETest):
    def setUp(self):
        super().setUp()
        self.source = self.path("bucket")
        shutil.copytree(os.path.join(GOLDEN, "bucket"), self.source)
        self.truth = self.ok_json("digest", self.source + "@2730")["tensors"]
        shutil.rmtree(self.home)  # nothing of the sound run is known any more

    def object(self, key):
        return os.path.join(self.source, key)

    def test_an_act_goes_another_way_and_says_so(self):
        flip(self.object(FULL))
        digest = self.ok_json("digest", self.source + "@2730")
        self.assertEqual(digest["tensors"], self.truth)
        notice = digest["notices"][0]
        self.assertEqual((notice["code"], notice["step"], notice["where"]), ("DS-DIGEST", 2700, FULL))
        instead = notice["text"].partition("; used instead: ")[2]
        self.assertIn("/DELTA", instead)
        self.assertNotIn(FULL.rpartition("/")[0], instead)  # the damaged form itself

    def test_a_form_that_is_gone_is_not_missed(self):
        os.remove(self.object(FULL))
        self.assertEqual(self.ok_json("digest", self.source + "@2730")["tensors"], self.truth)

    def test_a_rebuild_along_another_way_is_right_and_its_provenance_tells_of_it(self):
        flip(self.object(FULL))
        out = self.path("out")
        report = self.ok_json("materialize", self.source + "@2730", "-o", out)
        tensors = {name: digest for name, (_, _, digest) in read_checkpoint(out).items()}
        self.assertEqual(tensors, {tensor["name"]: tensor["xxh3_128"] for tensor in self.truth})
        self.assertTrue(report["proven"])  # a root vouches for every tensor
        self.assertEqual(report["notices"][0]["code"], "DS-DIGEST")
        with open(os.path.join(out, "deltascope.provenance.json"), encoding="utf-8") as f:
            provenance = json.load(f)
        self.assertIn(FULL, [notice["where"] for notice in provenance["notices"]])
        read = [o["key"] for link in [provenance["anchor"], *provenance["deltas"]] for o in link["objects"]]
        self.assertNotIn(FULL, read)
        self.assertIn(DELTA, read)
        left = [name for name in os.listdir(os.path.dirname(out)) if name.startswith(".out.ds-")]
        self.assertEqual(left, [], "what was begun along the first way is still there")

    def test_what_no_other_way_leads_to_is_refused_by_name(self):
        flip(self.object(FULL))
        flip(self.object(DELTA))
        outcome = self.run_ds("digest", self.source + "@2730", "--json")
        self.assertEqual(outcome.code, DAMAGED, str(outcome))
        error = outcome.json()["error"]
        self.assertEqual(error["step"], 2700)
        self.assertIn("checkpoint-2700/", error["where"])
        self.assertFalse(os.path.exists(self.path("out")))
        self.ok("digest", self.source + "@2670")  # in front of the damage

    def test_a_sound_run_has_nothing_to_say(self):
        digest = self.ok_json("digest", self.source + "@2730")
        self.assertEqual((digest["tensors"], digest["notices"]), (self.truth, []))


if __name__ == "__main__":
    main()
