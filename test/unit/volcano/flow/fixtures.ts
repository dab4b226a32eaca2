/** Flows with their templates and jobs, for tests of the decisions of a JobFlow. */

import { volcanoJobFlow } from "../../../../shared/volcano/flow/decide.ts";
import { jobTemplates } from "../../../../shared/volcano/schema/resource.ts";
import { fixtureOf } from "../fixture.ts";

type Fields = Readonly<Record<string, unknown>>;

/** 2026-11-02T08:00:00Z. */
const eight = Date.UTC(2026, 10, 2, 8);

export const podTemplate = {
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox", env: [{ name: "A", value: "1" }] }] },
};

export const template = (name: string, spec: Fields = {}) => ({
  apiVersion: "flow.volcano.sh/v1alpha1",
  kind: "JobTemplate",
  metadata: { name },
  spec: { queue: "default", tasks: [{ name: "w", replicas: 2, template: podTemplate }], ...spec },
});

/** Returns a flow `f` of these entries, with a template for each entry's name unless `templates` names others. */
export const flowOf = (
  flows: readonly Fields[],
  { spec = {}, templates, status = {} }: { spec?: Fields; templates?: readonly string[]; status?: Fields } = {},
) => {
  const object = {
    apiVersion: "flow.volcano.sh/v1alpha1",
    kind: "JobFlow",
    metadata: { name: "f", generation: 1 },
    spec: { flows, ...spec },
    status,
  };
  const fixture = fixtureOf(volcanoJobFlow({ settledMs: 16_000 }), object, eight);
  const names = templates ?? flows.map(({ name }) => `${name}`);
  for (const name of names) fixture.put(jobTemplates.plural, template(name));
  return fixture;
};

export const after = (name: string, ...targets: readonly string[]): Fields => ({ name, dependsOn: { targets } });

type Flow = ReturnType<typeof flowOf>;

export const phaseOf = (fixture: Flow): unknown => Object(fixture.status()["state"])["phase"];
