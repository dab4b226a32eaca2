/**
 * Reads over HTTP: pages, filters, the parts of one object, each caller within its namespaces; and their OpenAPI
 * document.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import * as z from "zod";
import { apiApp } from "../../../functions/api.ts";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { callers, identifier } from "../../../shared/api/callers.ts";
import { detail, executors, losses, page, updates } from "../../../shared/api/read-schemas.ts";
import { openReader } from "../../../shared/deployments/read-api/reader.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";
import { sparkApplications } from "../../../shared/spark/schema/resource.ts";
import { crds } from "../../support/crds.ts";

const known = callers.parse([
  { name: "all", tokens: ["a-token-of-everything"], may: ["read"] },
  { name: "team", tokens: ["a-token-of-the-team."], may: ["read"], namespaces: ["a", "b"] },
  { name: "other", tokens: ["a-token-to-trigger.."] },
]);

const path = (namespace: string): string =>
  `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`;

const application = (name: string, team: string) => ({
  ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", metadata: { name, labels: { team } } },
  spec: { type: "Scala", sparkVersion: "4.1.1", mainApplicationFile: "local:///x.jar", driver: {}, executor: {} },
});

const fixture = async () => {
  const { transport } = openSimulator({ crds, start: Date.parse("2026-11-02T08:00:00Z") });
  for (const namespace of ["a", "b", "c"]) {
    await request(transport, "POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    for (const name of ["one", "two"]) await request(transport, "POST", path(namespace), application(name, name));
  }
  const cluster = openCluster(transport);
  const one = { resource: sparkApplications, namespace: "a", name: "one" };
  const { value } = await cluster.get(one);
  const status = { applicationState: { state: "RUNNING" }, driverInfo: {}, executionAttempts: 1 };
  await cluster.patchStatus(one, value?.metadata.resourceVersion ?? "", status);
  await request(transport, "POST", "/api/v1/namespaces/a/pods", {
    metadata: {
      name: "one-exec-1",
      labels: { "sparkoperator.k8s.io/app-name": "one", "spark-role": "executor", "spark-exec-id": "1" },
      annotations: { "rekindle.dev/leaving": "2026-11-02T08:02:00Z" },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "one-driver", uid: "driver-1" }],
    },
    spec: { schedulingGates: [{ name: "x" }], containers: [{ name: "c", image: "i" }] },
  });
  const app = apiApp({
    ...{ ready: () => true, kinds: () => [], plurals: {}, trigger: async () => {}, notice: async () => {} },
    reader: openReader({ transport }),
    identify: identifier(known, { now: Date.now, subjectOf: async () => undefined }),
  });
  return (at: string, token = "a-token-of-everything") =>
    app.fetch(new Request(`http://door${at}`, { headers: { authorization: `Bearer ${token}` } }));
};

const namesIn = async (answer: Response): Promise<readonly string[]> =>
  page.parse(await answer.json()).items.map(({ namespace, name }) => `${namespace}/${name}`);

describe("a list", () => {
  const rows: readonly { readonly query: string; readonly token?: string; readonly shows: readonly string[] }[] = [
    { query: "", shows: ["a/one", "a/two", "b/one", "b/two", "c/one", "c/two"] },
    { query: "?namespace=b", shows: ["b/one", "b/two"] },
    { query: "?state=RUNNING", shows: ["a/one"] },
    { query: "?selector=team%3Dtwo", shows: ["a/two", "b/two", "c/two"] },
    { query: "?kind=ScheduledSparkApplication", shows: [] },
  ];
  for (const { query, token, shows } of rows)
    test(`${query || "of everything"} shows ${shows.join(", ") || "nothing"}`, async () => {
      const get = await fixture();
      assert.deepEqual(await namesIn(await get(`/applications${query}`, token)), shows);
    });

  for (const token of ["a-token-of-everything", "a-token-of-the-team."])
    test(`is paged, has each object once, and only what ${token} may see`, async () => {
      const get = await fixture();
      const seen: string[] = [];
      let next: string | undefined = "";
      while (next !== undefined) {
        const at = next === "" ? "" : `&continue=${next}`;
        const answer = page.parse(await (await get(`/applications?limit=1${at}`, token)).json());
        seen.push(...answer.items.map(({ namespace, name }) => `${namespace}/${name}`));
        next = answer.continue;
      }
      const all = ["a/one", "a/two", "b/one", "b/two", "c/one", "c/two"];
      assert.deepEqual(seen, token === "a-token-of-everything" ? all : all.slice(0, 4));
    });

  const wrong = [
    { at: "/applications?namespace=c", token: "a-token-of-the-team.", status: 403 },
    { at: "/applications", token: "a-token-to-trigger..", status: 403 },
    { at: "/applications", token: "a-token-of-nobody's!", status: 401 },
    { at: "/applications?limit=0", status: 400 },
    { at: "/applications?limit=501", status: 400 },
    { at: "/applications?kind=Secret", status: 400 },
    { at: "/applications?namespace=..%2Fkube-system", status: 400 },
    { at: "/applications?selector=a%26limit%3D9", status: 400 },
    { at: "/applications?continue=nonsense", status: 400 },
    { at: "/applications?color=red", status: 400 },
  ];
  for (const { at, token, status } of wrong)
    test(`from ${at} for ${token ?? "everybody"} is answered ${status}`, async () => {
      assert.equal((await (await fixture())(at, token)).status, status);
    });

  test("of jobs has only jobs", async () => {
    assert.deepEqual(await namesIn(await (await fixture())("/jobs")), []);
  });
});

describe("one object", () => {
  test("shows its state and what it waits for", async () => {
    const get = await fixture();
    const { state, attempts, waitsFor } = detail.parse(
      await (await get("/applications/SparkApplication/a/one")).json(),
    );
    assert.deepEqual([state, attempts, waitsFor === ""], ["RUNNING", 1, false]);
  });

  test("shows its executors, and the times at which their nodes go", async () => {
    const answer = await (await fixture())("/applications/SparkApplication/a/one/executors");
    const [one, ...others] = executors.parse(await answer.json()).items;
    assert.deepEqual([one?.id, one?.leavingAt, others], ["1", "2026-11-02T08:02:00Z", []]);
  });

  test("shows its losses and its updates", async () => {
    const get = await fixture();
    const answer = await get("/applications/SparkApplication/a/one/losses");
    assert.deepEqual(losses.parse(await answer.json()), { lost: {}, items: [] });
    const told = await get("/applications/SparkApplication/a/one/updates");
    assert.deepEqual(updates.parse(await told.json()), { waiting: 0 });
  });

  const absent = [
    "/applications/SparkApplication/a/none",
    "/applications/SparkApplication/c/one",
    "/applications/Secret/a/one",
    "/applications/SparkApplication/A_B/one",
    "/applications/SparkApplication/a/one/more",
  ];
  for (const at of absent)
    test(`at ${at} is not found by the team, in the same text`, async () => {
      const answer = await (await fixture())(at, "a-token-of-the-team.");
      assert.deepEqual([answer.status, await answer.json()], [404, { error: "not found" }]);
    });
});

describe("the OpenAPI document", () => {
  const document = async () =>
    z
      .looseObject({ paths: z.record(z.string(), z.unknown()) })
      .parse(await (await (await fixture())("/openapi.json", "nobody")).json());

  test("is valid OpenAPI 3.1 for another implementation's validator", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(await document());
    assert.deepEqual([valid, errors, validator.version], [true, undefined, "3.1"]);
  });

  test("has every path of the API except health", async () => {
    const app = apiApp({
      ...{ ready: () => true, kinds: () => [], plurals: {}, trigger: async () => {}, notice: async () => {} },
      identify: undefined,
    });
    const own = /^\/(healthz|readyz|metrics|openapi\.json)/;
    const paths = app.routes
      .map((one) => one.path.replace(/:(\w+)/g, "{$1}"))
      .filter((one) => !own.test(one) && !one.includes("*"));
    assert.deepEqual(Object.keys((await document()).paths).sort(), [...new Set(paths)].sort());
  });
});
