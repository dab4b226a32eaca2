/** Rings of the applications and the job of a lane whose keys come from the bell. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { jobsPath } from "../cloud/works.ts";
import type { Fixture } from "../functions/fixture.ts";
import { completing, deleted, failing } from "../lambda/applications.ts";
import type { Case } from "../lambda/cases.ts";
import { collection } from "../lambda/witness.ts";
import { must } from "../scene.ts";

const keys = [
  ...[...completing, failing, deleted].map(({ name }) => `SparkApplication/default/${name}`),
  "Job/default/job",
];

/** The log of this process tells of the rings. */
export const rangAt = (process: string): Case<Fixture> => ({
  name: "the bell rang for every application and job, and no watch was open",
  run: async ({ logs = "", audit }) => {
    const lines = (await readFile(join(logs, `${process}.log`), "utf8"))
      .split("\n")
      .filter((line) => line.includes('"rang"'));
    const silent = keys.filter((key) => !lines.some((line) => line.includes(key)));
    must(silent.length === 0, `no ring for ${silent.join(", ")}`);
    const watches = (await audit.read()).filter(({ verb }) => verb === "watch");
    must(watches.length === 0, `${watches.length} watches were opened`);
    return [`${lines.length} rings with keys`];
  },
});

const stirred = [...[...completing, failing].map(({ name }) => `${collection}/${name}`), `${jobsPath}/job`];

/** Annotates an application or job, which rings. One that is not there yet is left out. */
export const annotated = async ({ cluster }: Fixture, nth: number): Promise<void> => {
  const path = stirred[nth % stirred.length] ?? "";
  const body = { metadata: { annotations: { "rekindle.test/stir": String(nth) } } };
  await cluster.api.call("PATCH", path, body, "application/merge-patch+json");
};
