/**
 * The catalogue of bad inputs for Volcano jobs, all at once in one namespace beside a valid job: each gets its message,
 * none affects another, and all run when they are corrected.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { same } from "../../../shared/core/json.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { crds } from "../../support/crds.ts";
import { rows } from "../volcano/input/catalogue.ts";
import type { Row } from "../volcano/input/row.ts";
import { home, loose, queue, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

/** The inputs that JSON can hold, that an API server accepts, and that leave the name free. */
const carried = rows.filter(
  ({ job, spec, name }) =>
    job === undefined &&
    !/within each other|60,000/.test(name) &&
    same(spec, JSON.parse(JSON.stringify(spec ?? null)) ?? undefined),
);

const numbered: readonly (readonly [string, Row])[] = carried.map((row, at) => [`job-${at}`, row]);

type State = { readonly phase?: string; readonly reason?: string; readonly message?: string };

const stateOf = (object: Stored | undefined): State => Object(Object(object?.["status"]).state ?? {});

const state = (stand: Stand, name: string): State => stateOf(stand.get("Job", name));

const good = volcanoJob("good", { runMs: 5_000 })["spec"];

const it = itOnStand({ crds: crds.map(loose), schedulers: ["default-scheduler", "volcano"] });

describe("invalid Volcano jobs, all at once,", () => {
  it("each get their error, a valid one runs beside them, and repaired ones run", async (stand) => {
    await stand.create(home);
    await stand.create(queue);
    stand.simulator.subscribe(({ type, table, object }) => {
      if (type !== "ADDED" || table !== "podgroups.scheduling.volcano.sh") return;
      void stand.patch("PodGroup", object.metadata.name, { status: { phase: "Inqueue" } });
    });
    await stand.host({ gang: "scheduler" });
    for (const [name, { spec }] of numbered) await stand.create({ ...volcanoJob(name, {}), spec });
    await stand.create(volcanoJob("neighbour", { runMs: 5_000 }));
    const told = (): boolean => numbered.every(([name]) => state(stand, name).reason === "InvalidSpec");
    await stand.until("all are told", told, 120_000);
    for (const [name, row] of numbered) assert.match(state(stand, name).message ?? "", row.says, row.name);
    await stand.until("the good one completes", () => state(stand, "neighbour").phase === "Completed", 120_000);
    assert.equal(stand.all("Pod").filter(({ metadata }) => metadata.name.startsWith("job-")).length, 0);
    const warned = stand.all("Event").filter((event) => event["reason"] === "InvalidSpec");
    assert.equal(warned.length, numbered.length);
    for (const [name] of numbered) await stand.patch("Job", name, { spec: null });
    for (const [name] of numbered) await stand.patch("Job", name, { spec: good });
    const done = (): boolean => numbered.every(([name]) => state(stand, name).phase === "Completed");
    await stand.until("all are Completed", done, 600_000);
    assert.deepEqual(
      stand.lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
    assert.ok(numbered.length >= 60, `${numbered.length}`);
  });
});
