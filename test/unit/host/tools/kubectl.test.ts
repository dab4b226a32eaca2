/**
 * `kubectl wait`: a list and a watch by name, from the list's resourceVersion, until a JSONPath has its value or the
 * object is deleted (`kubectl/pkg/cmd/wait`).
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { withQuery } from "../../../../shared/kube/paths.ts";
import { application } from "../objects.ts";
import { itOnStand, type Stand } from "../stand.ts";
import { applications, itemsOf, toolOn, within } from "./client.ts";

const agent = "kubectl/v1.35.0 (linux/amd64) kubernetes/0000000";
const byName = { fieldSelector: "metadata.name=app" };

const stateOf = (object: unknown): unknown => within(object, "status", "applicationState", "state");

/** Lists, watches, and collects the events of the watch. */
const watching = async (stand: Stand) => {
  const kubectl = toolOn(stand, agent);
  assert.equal((await kubectl({ method: "GET", path: `${applications}/app` })).status, 200);
  const listed = await kubectl({
    method: "GET",
    path: applications,
    query: { ...byName, limit: "500", resourceVersion: "0" },
  });
  assert.equal(itemsOf(listed).length, 1);
  const query = {
    ...{ ...byName, allowWatchBookmarks: "true", watch: "true", timeoutSeconds: "500" },
    resourceVersion: String(within(listed.body, "metadata", "resourceVersion")),
  };
  const headers = { accept: "application/json", "user-agent": agent };
  const path = withQuery(applications, query);
  const stream = await stand.simulator.transport.stream({ method: "GET", path, headers, timeoutMs: 1_000 });
  assert.equal(stream.status, 200);
  const events: { readonly type: unknown; readonly object: unknown }[] = [];
  void (async () => {
    for await (const line of stream.lines) events.push(JSON.parse(line));
  })();
  return { events, close: () => stream.close() };
};

const it = itOnStand({ scripts: { app: [{ jobMs: 10_000 }] } });

describe("kubectl wait", () => {
  for (const wanted of ["RUNNING", "COMPLETED"]) {
    it(`--for=jsonpath='{.status.applicationState.state}'=${wanted} sees that state`, async (stand) => {
      await stand.host();
      await stand.create(application("app"));
      const { events, close } = await watching(stand);
      await stand.until(`${wanted} is told`, () => events.some(({ object }) => stateOf(object) === wanted));
      close();
      const states = events.map(({ object }) => stateOf(object)).filter((state) => state !== undefined);
      assert.equal(states[0], "SUBMITTED");
    });
  }

  it("gets the states in their order, and each of them once", async (stand) => {
    await stand.host();
    await stand.create(application("app"));
    const { events, close } = await watching(stand);
    await stand.until("it has completed", () => events.some(({ object }) => stateOf(object) === "COMPLETED"));
    close();
    const states = events.map(({ object }) => stateOf(object)).filter((state) => state !== undefined);
    const inOrder = states.filter((state, at) => state !== states[at - 1] && state !== "SUCCEEDING");
    assert.deepEqual(inOrder, ["SUBMITTED", "RUNNING", "COMPLETED"]);
  });

  it("--for=delete sees the end of an application whose time to live is over", async (stand) => {
    await stand.host();
    await stand.create(application("app", { spec: { timeToLiveSeconds: 30 } }));
    const { events, close } = await watching(stand);
    await stand.until("its end is told", () => events.some(({ type }) => type === "DELETED"));
    close();
  });
});
