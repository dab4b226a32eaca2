/** The resync function: all due keys in order, within its time limit, and the next run continues. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kubernetesCheckpoints } from "../../../../shared/adapters/checkpoints/kubernetes.ts";
import { memoryCheckpoints } from "../../../../shared/adapters/checkpoints/memory.ts";
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import { type Message, textOf } from "../../../../shared/core/key.ts";
import type { Obj } from "../../../../shared/core/object.ts";
import { sweepOnce } from "../../../../shared/deployments/resync/function.ts";
import { resync } from "../../../../shared/deployments/resync/sweep.ts";
import { openCursors } from "../../../../shared/forward/cursors.ts";
import { openUnheard, unheardKey } from "../../../../shared/forward/unheard.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";

const configMaps = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" } as const;

const open = async (count: number) => {
  const { transport } = openSimulator({ crds });
  const names = Array.from({ length: count }, (_, at) => `app-${String(at).padStart(3, "0")}`);
  for (const name of names) {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
    await request(transport, "POST", "/api/v1/namespaces/default/configmaps", object);
  }
  const sent: Message[] = [];
  const lines: string[] = [];
  const checkpoints = memoryCheckpoints();
  const report = (level: string, message: string): void => void lines.push(`${level} ${message}`);
  const scope = {
    ...{ transport, cluster: "c1", namespaces: ["default"], selector: undefined },
    operators: [{ kind: "ConfigMap", resource: configMaps }],
    queue: { send: async (message: Message): Promise<void> => void sent.push(message) },
  };
  const cursors = openCursors({ checkpoints, clusterUid: "u", report });
  const parts = { scope, cursors, report };
  return { parts, scope, sent, lines, checkpoints, transport, names };
};

/** Returns a time limit that is over after `looks` checks. */
const after = (looks: number) => {
  let seen = 0;
  return (): boolean => {
    seen += 1;
    return seen > looks;
  };
};

const shown = (sent: readonly Message[]): readonly string[] =>
  sent.map(({ name }) => name).filter((name) => name.startsWith("app-"));

describe("a resync", () => {
  test("sends every due key in order, and writes nothing", async () => {
    const { parts, sent, names, checkpoints } = await open(120);
    const swept = await sweepOnce(parts, "run-1", () => false);
    assert.deepEqual([shown(sent), swept.left, swept.next], [names, 0, undefined]);
    assert.equal(checkpoints.all().size, 0);
  });

  test("counts a change that no message had told once, and saves what it found when that is another", async () => {
    const { parts, checkpoints, transport, names } = await open(3);
    const key = unheardKey("c1");
    const counts: number[] = [];
    const tellGauges = async (_: () => boolean, unheard: number): Promise<void> => void counts.push(unheard);
    const run = async () => {
      // Each run in an environment of its own.
      const takeUnheard = openUnheard(openCursors({ checkpoints, clusterUid: "u", report: () => {} }), key, () => {});
      await sweepOnce({ ...parts, takeUnheard, tellGauges }, "run", () => false);
      return checkpoints.all().get(textOf(key));
    };
    const first = await run();
    const second = await run();
    assert.deepEqual([first === undefined, second === first], [false, false]);
    assert.equal(await run(), second);
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "app-late" } };
    await request(transport, "POST", "/api/v1/namespaces/default/configmaps", object);
    await run();
    for (const name of [...names, "app-late", "kube-root-ca.crt"])
      await request(transport, "DELETE", `/api/v1/namespaces/default/configmaps/${name}`);
    await run();
    // The namespace has a ConfigMap of its own.
    assert.deepEqual(counts, [4, 0, 0, 1, 0]);
  });

  test("that cannot save the count tells it, and succeeds", async () => {
    const { parts, sent } = await open(1);
    const lines: string[] = [];
    const save = () => Promise.reject(new Error("forbidden"));
    const takeUnheard = openUnheard({ ...parts.cursors, save }, unheardKey("c1"), (level, text) => {
      lines.push(`${level} ${text}`);
    });
    const { unheard, left } = await sweepOnce({ ...parts, takeUnheard }, "run-1", () => false);
    assert.deepEqual([unheard, sent.length, left], [0, 2, 0]);
    assert.deepEqual(lines, ["warn the count of changes that no message had told cannot be saved"]);
  });

  test("writes no count while there was never a change that no message had told", async () => {
    const { parts, checkpoints } = await open(0);
    const scope = { ...parts.scope, namespaces: ["nowhere"] };
    const takeUnheard = openUnheard(parts.cursors, unheardKey("c1"), () => {});
    await sweepOnce({ ...parts, scope, takeUnheard }, "run-1", () => false);
    assert.equal(checkpoints.all().size, 0);
  });

  test("sends nothing of kinds that another controller leads", async () => {
    const { parts, sent } = await open(3);
    const standby = { signs: async (kind: string) => (kind === "ConfigMap" ? ["it leads"] : []) };
    assert.deepEqual([(await sweepOnce({ ...parts, standby }, "run-1", () => false)).sent, sent], [0, []]);
  });

  test("sends nothing of namespaces out of scope", async () => {
    const { parts, sent } = await open(3);
    const within = async () => (namespace: string) => namespace !== "default";
    const swept = await sweepOnce({ ...parts, scope: { ...parts.scope, within } }, "run-1", () => false);
    assert.deepEqual([swept.sent, sent], [0, []]);
  });

  test("that runs out of time continues in the next run, and the one after that starts afresh", async () => {
    const { parts, sent, names, lines, checkpoints } = await open(120);
    // Two checks while listing, then one before each fifty keys.
    const first = await sweepOnce(parts, "run-1", after(3));
    assert.deepEqual([first.sent, shown(sent)], [50, names.slice(0, 50)]);
    assert.ok(lines.some((line) => line.startsWith("warn resync: out of time")));
    sent.length = 0;
    const second = await sweepOnce(parts, "run-2", after(4));
    assert.deepEqual(shown(sent).slice(0, 70), names.slice(50));
    assert.equal(second.sent, 100);
    sent.length = 0;
    await sweepOnce(parts, "run-3", () => false);
    // The namespace has a ConfigMap of its own, which was among the second hundred.
    assert.equal(shown(sent)[0], names[29]);
    sent.length = 0;
    await sweepOnce(parts, "run-4", () => false);
    assert.deepEqual(shown(sent), names);
    assert.equal(checkpoints.all().size, 1);
  });

  test("fails if its time is over before it has listed the checkpoints", async () => {
    const { parts } = await open(3);
    await assert.rejects(
      sweepOnce(parts, "run-1", () => true),
      /the time of a resync is over before checkpoints are listed/,
    );
  });

  test("fails if it cannot send", async () => {
    const { parts, scope } = await open(3);
    const queue = { send: () => Promise.reject(new Error("no permission")) };
    await assert.rejects(
      sweepOnce({ ...parts, scope: { ...scope, queue } }, "run-1", () => false),
      /no permission/,
    );
  });

  test("skips resting objects, and sends keys of deleted objects and of objects with an errand", async () => {
    const { scope, sent, transport, names } = await open(2);
    const store = kubernetesCheckpoints(transport);
    const [first = ""] = names;
    const object: unknown = await request(transport, "GET", `/api/v1/namespaces/default/configmaps/${first}`);
    const uid = JSON.stringify(object).match(/"uid":"([^"]+)"/)?.[1] ?? "";
    const record = { schema: 1, cluster: "u", uid, saves: 1, rests: true, memory: {} } as const;
    const key = { cluster: "c1", kind: "ConfigMap", namespace: "default" };
    await store.save({ ...key, name: first }, record, undefined);
    await store.save({ ...key, name: "app-gone" }, { ...record, uid: "old" }, undefined);
    // A cursor is not the record of an application.
    await store.save({ ...key, kind: "Cursor", name: "configmaps" }, record, undefined);
    await resync(scope, "run-1");
    assert.deepEqual(shown(sent), ["app-001", "app-gone"]);
    // An object of an `errand` watch waits for the first object, which its name tells, so the resync sends that key,
    // too.
    sent.length = 0;
    const secrets = { group: "", version: "v1", plural: "secrets", kind: "Secret" };
    await request(transport, "POST", "/api/v1/namespaces/default/secrets", {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name: `to.${first}` } },
    });
    const ownerName = ({ metadata }: Obj): string | undefined => metadata.name.split("to.")[1];
    const watches = [{ resource: secrets, errand: true, ownerName, matters: () => true }] as const;
    await resync({ ...scope, operators: [{ kind: "ConfigMap", resource: configMaps, watches }] }, "run-2");
    assert.deepEqual(shown(sent), ["app-000", "app-001", "app-gone"]);
  });

  test("believes that a kind with records is not served when two lists say so, and sends nothing of it", async () => {
    const { scope, sent, transport } = await open(0);
    const key = { cluster: "c1", kind: "ConfigMap", namespace: "default", name: "app-gone" };
    await kubernetesCheckpoints(transport).save(
      key,
      { schema: 1, cluster: "u", uid: "old", saves: 1, rests: true, memory: {} },
      undefined,
    );
    const refusing = (times: number): typeof transport => ({
      ...transport,
      send: async (asked) => {
        if (!asked.path.includes("/configmaps") || times === 0) return await transport.send(asked);
        times -= 1;
        return { status: 404, headers: {}, body: "404 page not found" };
      },
    });
    const operators = [{ kind: "ConfigMap", resource: configMaps, optional: true }];
    await resync({ ...scope, transport: refusing(2), operators }, "run-1");
    assert.deepEqual(shown(sent), []);
    await resync({ ...scope, transport: refusing(1), operators }, "run-2");
    assert.deepEqual(shown(sent), ["app-gone"]);
  });
});
