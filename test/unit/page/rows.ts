/** A row of the page for tests. */
import type { Row } from "../../../shared/page/wire.ts";

export const rowOf = (given: Partial<Row>): Row => ({
  ...{ kind: "SparkApplication", namespace: "team-a", name: "etl", state: "RUNNING", group: "running" },
  ...{
    attempts: 1,
    createdAt: 1_000,
    since: 1_000,
    waits: "",
    pods: [1, 1, 0],
    queue: "",
    next: "",
    strip: [],
    repair: "",
  },
  ...given,
});
