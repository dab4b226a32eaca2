/**
 * The catalogue of bad inputs, all at once in one namespace beside a valid application: each gets its message, none
 * affects another, and all run when they are corrected.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { same } from "../../../shared/core/json.ts";
import { crds } from "../../support/crds.ts";
import { good } from "../spark/admission/reviews.ts";
import { type Bad, bad } from "../spark/input/catalogue.ts";
import { application, loose, refusalOf, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const namespace = "team";

/** The inputs that JSON can hold and that leave the name free. */
const carried = bad.filter(
  ({ metadata, spec, isLarge }) =>
    metadata === undefined && isLarge !== true && same(spec, JSON.parse(JSON.stringify(spec ?? null)) ?? undefined),
);

const numbered: readonly (readonly [string, Bad])[] = carried.map((row, at) => [`app-${at}`, row]);

const state = (stand: Stand, name: string): string => stateOf(stand.get("SparkApplication", name, namespace));

const allAre = (stand: Stand, wanted: string): boolean => numbered.every(([name]) => state(stand, name) === wanted);

const it = itOnStand({ crds: crds.map(loose) });

describe("invalid applications, all at once,", () => {
  it("each get their error, a valid one runs beside them, and repaired ones run", async (stand) => {
    await stand.host();
    await stand.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await stand.create(application("neighbour", { namespace }));
    for (const [name, { spec }] of numbered) await stand.create({ ...application(name, { namespace }), spec });
    await stand.until("all are FAILED", () => allAre(stand, "FAILED"), 120_000);
    for (const [name, row] of numbered)
      assert.match(refusalOf(stand.get("SparkApplication", name, namespace)), row.says, row.name);
    await stand.until("the good one completes", () => state(stand, "neighbour") === "COMPLETED");
    assert.equal(stand.all("Pod").filter(({ metadata }) => metadata.name.startsWith("app-")).length, 0);
    for (const [name] of numbered) await stand.patch("SparkApplication", name, { spec: null }, namespace);
    for (const [name] of numbered) await stand.patch("SparkApplication", name, { spec: good }, namespace);
    await stand.until("all are COMPLETED", () => allAre(stand, "COMPLETED"), 600_000);
    const neighbour = stand.get("SparkApplication", "neighbour", namespace);
    assert.deepEqual([stateOf(neighbour), statusOf(neighbour, "executionAttempts")], ["COMPLETED", 1]);
    const loud = stand.lines.filter(({ level }) => level === "warn" || level === "error");
    assert.deepEqual(loud, []);
    assert.ok(numbered.length >= 100, `${numbered.length}`);
  });
});
