/** Actions on the page: which version they change, how often, and what they leave behind. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openActions, type Trigger } from "../../../../shared/deployments/page/actions.ts";
import type { Simulator } from "../../../../shared/simulator/open.ts";
import { ask, etl, gang, open, paths, send } from "./action-fixture.ts";

const commandsPath = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands";

const commands = (simulator: Simulator): readonly string[] =>
  ask(simulator, "GET", commandsPath).object.items.map(
    ({ action, target }: { action: string; target: { kind: string; name: string } }) =>
      `${action} ${target.kind}/${target.name}`,
  );

const eventsOf = (simulator: Simulator): readonly string[] =>
  ask(simulator, "GET", "/api/v1/namespaces/default/events")
    .object.items.filter(({ reason }: { reason: string }) => reason === "PageAction")
    .map(
      ({ message, involvedObject }: { message: string; involvedObject: { kind: string; name: string } }) =>
        `${involvedObject.kind}/${involvedObject.name}: ${message}`,
    );

describe("an action on the page", () => {
  test("pauses an application, is told in the log and by an Event, and is taken back by its opposite", async () => {
    const fixture = open();
    const { simulator, seen, get, lines } = fixture;
    const before = seen("SparkApplication", "etl");
    const { status, text, version } = await send(fixture, etl, { action: "pause", ...before });
    assert.equal(status, 200, text);
    assert.match(text, /default\/etl is paused: its pods continue/);
    assert.equal(get("SparkApplication", "etl").object.metadata.annotations["rekindle.dev/paused"], "true");
    assert.deepEqual(eventsOf(simulator), ["SparkApplication/etl: operator paused it on the page"]);
    const [line] = lines;
    assert.deepEqual(
      [line?.["caller"], line?.["action"], line?.["namespace"], line?.["name"], line?.["uid"], line?.["status"]],
      ["operator", "pause", "default", "etl", before.uid, 200],
    );
    const undone = await send(fixture, etl, { action: "resume", uid: before.uid, version });
    assert.deepEqual([undone.status, undone.text], [200, "default/etl continues"]);
    assert.equal(get("SparkApplication", "etl").object.metadata.annotations?.["rekindle.dev/paused"], undefined);
  });

  test("suspends by spec.suspend where the kind has it, and a Job by one Command, however often it is sent", async () => {
    const fixture = open();
    const { simulator, seen, get } = fixture;
    for (const [kind, name] of [
      ["SparkApplication", "etl"],
      ["CronJob", "often"],
    ] as const) {
      const { status } = await send(fixture, `${kind}/default/${name}`, { action: "suspend", ...seen(kind, name) });
      assert.deepEqual([status, get(kind, name).object.spec.suspend], [200, true], kind);
    }
    const wish = { action: "suspend", ...seen("Job", "gang") };
    const answers = [await send(fixture, gang, wish, { once: "the-same-key" })];
    // Another process has not seen the first request.
    const other = openActions({
      ...{ transport: fixture.transport, report: () => {}, commandNamespace: "default", now: Date.now, advice: "" },
    });
    const viewer = {
      name: "operator",
      namespaces: [],
      id: "caller operator",
      grants: [{ ability: "act" as const, namespaces: [] }],
    };
    const again = await other.act(
      viewer,
      { kind: "Job", namespace: "default", name: "gang" },
      { ...wish, action: "suspend", once: "the-same-key" },
    );
    assert.deepEqual([answers[0]?.status, again.status], [200, 200]);
    assert.deepEqual(commands(simulator), ["AbortJob Job/gang"]);
  });

  test("a Job that was aborted is resumed by a Command", async () => {
    const fixture = open();
    const { simulator, seen } = fixture;
    ask(simulator, "PATCH", `${paths["Job"]}/gang/status`, { status: { state: { phase: "Aborted" } } });
    await send(fixture, gang, { action: "resume", ...seen("Job", "gang") });
    assert.deepEqual(commands(simulator), ["ResumeJob Job/gang"]);
  });

  test("deletes the object that was seen, and answers a repeated deletion alike", async () => {
    const fixture = open();
    const { seen, get } = fixture;
    const wish = { action: "delete", ...seen("SparkApplication", "etl") };
    const answer = await send(fixture, etl, wish);
    assert.deepEqual([answer.status, answer.text], [200, "default/etl is being deleted"]);
    assert.equal(get("SparkApplication", "etl").status, 404);
    const again = await send(fixture, etl, wish);
    assert.deepEqual([again.status, again.text], [200, "SparkApplication default/etl has been deleted already"]);
  });

  test("opens and closes queues by Commands, in a namespace from which they are obeyed", async () => {
    const fixture = open();
    const { simulator, seen } = fixture;
    const { status, text } = await send(fixture, "Queue/batch", { action: "close", ...seen("Queue", "batch") });
    assert.deepEqual([status, text], [200, "sent CloseQueue to batch"]);
    assert.deepEqual(commands(simulator), ["CloseQueue Queue/batch"]);
    const opened = await send(fixture, "Queue/batch", { action: "open", ...seen("Queue", "batch") });
    assert.deepEqual([opened.status, opened.text], [200, "queue batch is Open already"]);
    const none = open({ commandNamespace: "" });
    const refused = await send(none, "Queue/batch", { action: "close", ...none.seen("Queue", "batch") });
    assert.deepEqual([refused.status, /queueCommandNamespaces/.test(refused.text)], [422, true]);
  });

  test("on what has changed since it was seen is refused in plain words, and changes nothing", async () => {
    const fixture = open();
    const { simulator, seen, get, lines } = fixture;
    const before = seen("SparkApplication", "etl");
    ask(simulator, "PATCH", `${paths["SparkApplication"]}/etl/status`, {
      status: { applicationState: { state: "COMPLETED" }, driverInfo: {} },
    });
    for (const action of ["pause", "suspend", "delete"]) {
      const { status, text } = await send(fixture, etl, { action, ...before });
      assert.equal(status, 409);
      assert.equal(
        text,
        "SparkApplication default/etl has changed since you saw it, and is COMPLETED now: nothing was done. Look at it, and repeat the action if you still want it",
      );
    }
    const { object } = get("SparkApplication", "etl");
    assert.deepEqual([object.metadata.annotations ?? {}, object.spec.suspend], [{}, undefined]);
    assert.deepEqual(
      lines.map(({ status }) => status),
      [409, 409, 409],
    );
    assert.deepEqual(eventsOf(simulator), []);
  });

  test("that meets a change between its read and its write is refused by the API server", async () => {
    const { simulator, seen, get, transport } = open();
    const viewer = {
      name: "operator",
      namespaces: [],
      id: "caller operator",
      grants: [{ ability: "act" as const, namespaces: [] }],
    };
    for (const action of ["pause", "suspend", "delete"] as const) {
      const before = seen("SparkApplication", "etl");
      const racing: typeof transport = {
        ...transport,
        send: async (request) => {
          if (request.method === "PATCH" || request.method === "DELETE")
            ask(simulator, "PATCH", `${paths["SparkApplication"]}/etl`, {
              metadata: { labels: { [action]: "raced" } },
            });
          return await transport.send(request);
        },
      };
      const parts = { report: () => {}, commandNamespace: "default", now: Date.now, advice: "" };
      const actions = openActions({ ...parts, transport: racing });
      const answer = await actions.act(
        viewer,
        { kind: "SparkApplication", namespace: "default", name: "etl" },
        { action, ...before, once: `racing-${action}` },
      );
      assert.equal(answer.status, 409, action);
    }
    const { object } = get("SparkApplication", "etl");
    assert.deepEqual([object.metadata.annotations ?? {}, object.spec.suspend], [{}, undefined]);
  });

  test("never changes an object that was created anew under the name", async () => {
    const fixture = open();
    const { seen, get } = fixture;
    const { version } = seen("SparkApplication", "etl");
    const old = { uid: "the-uid-of-before", version };
    assert.equal((await send(fixture, etl, { action: "pause", ...old })).status, 409);
    assert.equal((await send(fixture, etl, { action: "delete", ...old })).status, 200);
    assert.equal(get("SparkApplication", "etl").status, 200);
  });

  test("with the same Idempotency-Key is done once, and the key is good for no other action", async () => {
    const fixture = open();
    const { seen, get, lines } = fixture;
    const wish = { action: "pause", ...seen("SparkApplication", "etl") };
    const answers = await Promise.all([1, 2, 3].map(() => send(fixture, etl, wish, { once: "one-of-three" })));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal(lines.length, 1);
    const other = await send(fixture, etl, { ...wish, action: "delete" }, { once: "one-of-three" });
    assert.equal(other.status, 422);
    assert.equal(get("SparkApplication", "etl").status, 200);
  });

  test("requests a step with its Idempotency-Key as id, where this process has a queue", async () => {
    const sent: string[] = [];
    const trigger: Trigger = async ({ kind, namespace, name }, once) =>
      void sent.push(`${kind}/${namespace}/${name} ${once}`);
    const fixture = open({ trigger });
    const wish = { action: "reconcile", ...fixture.seen("SparkApplication", "etl") };
    assert.equal((await send(fixture, etl, wish, { once: "a-step-of-etl" })).status, 200);
    assert.deepEqual(sent, [`${etl} a-step-of-etl`]);
    assert.equal((await send(open(), etl, wish)).status, 422);
  });

  test("is refused by the API server's rights in its own words, with the flag that grants them", async () => {
    const { transport, seen, lines } = open();
    const body = JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message: "may not patch" });
    const actions = openActions({
      transport: {
        ...transport,
        send: async (request) =>
          request.method === "PATCH" ? { status: 403, headers: {}, body } : await transport.send(request),
      },
      report: (_, __, fields) => void lines.push({ ...fields }),
      ...{ commandNamespace: "default", now: Date.now, advice: "; see --features actions" },
    });
    const viewer = {
      name: "operator",
      namespaces: [],
      id: "caller operator",
      grants: [{ ability: "act" as const, namespaces: [] }],
    };
    const wish = { action: "pause" as const, ...seen("SparkApplication", "etl"), once: "not-granted" };
    const answer = await actions.act(viewer, { kind: "SparkApplication", namespace: "default", name: "etl" }, wish);
    assert.equal(answer.status, 403);
    assert.match(JSON.stringify(answer.body), /may not patch.*--features actions/);
    assert.equal(lines.at(-1)?.["status"], 403);
  });
});
