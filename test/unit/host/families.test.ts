/** Spark's or Volcano's kinds alone: a family that is not installed causes no error. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { lookoutRules } from "../../../shared/installation/feature-rules.ts";
import { hostRulesOf, nodeRules } from "../../../shared/installation/roles.ts";
import { crds } from "../../support/crds.ts";
import { application, home, volcanoJob } from "./objects.ts";
import { install, wayOf } from "./rights.ts";
import { itOnStand, type Stand } from "./stand.ts";

const it = itOnStand({ rbac: true, guardsOwners: true, crds });

describe("a family whose CRDs are missing", () => {
  const app = application("app");
  const job = volcanoJob("pair", { runMs: 1_000 });
  const families = [
    { family: "Spark", named: /\.sparkoperator\.k8s\.io$/, missing: app, there: job },
    { family: "Volcano", named: /\.volcano\.sh$/, missing: job, there: app },
  ] as const;
  const isDone = (stand: Stand, { kind, metadata: { name } }: Obj): boolean =>
    /"state":"COMPLETED"|"phase":"Completed"/.test(JSON.stringify(stand.get(kind, name)?.["status"] ?? {}));
  for (const { family, named, missing, there } of families) {
    const isMissing = ({ metadata }: Obj): boolean => named.test(metadata.name);
    itOnStand({ crds: crds.filter((crd) => !isMissing(crd)) })(
      `${family}: the host is ready without a warning, and starts the family after its installation`,
      async (stand) => {
        await stand.create(home);
        const host = await stand.host();
        await stand.until("it is ready", () => host.ready(), 5_000);
        await stand.create(there);
        await stand.until("the other family runs", () => isDone(stand, there), 60_000);
        await stand.turn(600_000);
        assert.ok(host.ready());
        assert.deepEqual(
          stand.lines.filter(({ level }) => level === "warn" || level === "error"),
          [],
        );
        for (const crd of crds.filter(isMissing)) await stand.create(crd);
        await stand.create(missing);
        await stand.until("it runs", () => isDone(stand, missing), 60_000);
      },
    );
  }
});

describe("the rights of one family", () => {
  const rows = [
    { family: "spark", features: [], object: application("app"), unserved: /\.volcano\.sh$/, end: "COMPLETED" },
    {
      family: "volcano",
      features: [],
      object: volcanoJob("pair", { runMs: 1_000 }, { plugins: { svc: [] } }),
      unserved: /\.sparkoperator\.k8s\.io$/,
      end: "Completed",
    },
    {
      family: "volcano",
      features: ["ssh"],
      object: volcanoJob("pair", { runMs: 1_000 }),
      unserved: /\.sparkoperator\.k8s\.io$/,
      end: "Completed",
    },
  ] as const;
  for (const { family, features, object, unserved, end } of rows)
    itOnStand({ rbac: true, guardsOwners: true, crds: crds.filter(({ metadata }) => !unserved.test(metadata.name)) })(
      `are enough for a host that runs ${[family, ...features].join(" with ")}, where the other family is not installed`,
      async (stand) => {
        const given = [...hostRulesOf([family], features), ...lookoutRules, ...nodeRules];
        const way = wayOf(stand.simulator, install(stand.simulator, given));
        const host = await stand.host({ transport: way.transport, families: [family] });
        await stand.until("it is ready", () => host.ready(), 60_000);
        await stand.create(object);
        const status = (): string => JSON.stringify(stand.get(object.kind, object.metadata.name)?.["status"] ?? {});
        await stand.until("it is done", () => status().includes(`"${end}"`), 120_000);
        assert.deepEqual(way.refused, []);
      },
    );

  it("block without a feature only the object that needs it, whose Event names the feature", async (stand) => {
    const way = wayOf(stand.simulator, install(stand.simulator, [...hostRulesOf(["volcano"]), ...lookoutRules]));
    await stand.host({ transport: way.transport, families: ["volcano"] });
    const plain = volcanoJob("plain", { runMs: 1_000 }, { plugins: { svc: [] } });
    await stand.create(volcanoJob("keyed", { runMs: 1_000 }));
    await stand.create(plain);
    const events = (): string => JSON.stringify(stand.all("Event"));
    const status = (): string => JSON.stringify(stand.get("Job", "plain")?.["status"] ?? {});
    await stand.until("the other job is done", () => status().includes('"Completed"'), 120_000);
    await stand.until("the feature is told", () => /manifests --features ssh grants this/.test(events()), 600_000);
  });
});
