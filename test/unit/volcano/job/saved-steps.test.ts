/** Reads, steps and waits that a job saves. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { same } from "../../../../shared/core/json.ts";
import type { Query } from "../../../../shared/core/plan.ts";
import { decide, volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import { does, waitIn } from "../../../support/plans.ts";
import { eight, key, Loop, task } from "./loop.ts";

const restarting = (action: string) => ({
  tasks: [task("w", 3)],
  policies: [{ event: "PodFailed", action }],
  maxRetry: 3,
});

const looks = (loop: Loop): readonly Query[] => {
  const object = loop.job();
  const view = { object, uid: object.metadata.uid, memory: loop.memory, now: eight, refused: [] };
  const first = decide(key, view).next();
  return first.done === true ? [] : first.value;
};

const pluralOf = (query: Query): string => {
  if (query.do === "list") return query.resource.plural;
  return query.do === "get" ? query.ref.resource.plural : query.do;
};

describe("a new job", () => {
  const loop = new Loop({ tasks: [task("w", 2)] });

  test("reads no PodGroup in its first step, since the group's name has its UID, and watched lists later", () => {
    assert.deepEqual(looks(loop).map(pluralOf), ["pods", "commands", "queues"]);
    loop.step();
    assert.deepEqual(looks(loop).map(pluralOf), ["pods", "podgroups", "commands", "queues"]);
    const { uid } = loop.job().metadata;
    const watched = volcanoJob.watched?.(key, { object: loop.job(), uid, memory: loop.memory }) ?? [];
    assert.ok(looks(loop).every((query) => watched.some((one) => same(one, query))));
  });

  test("uses its status as its record until it sees its pods, unless it has plugins", () => {
    const spec = { tasks: [task("w", 2)] };
    const first = (more: Readonly<Record<string, unknown>>) =>
      new Loop({ ...spec, ...more }).step().safety?.statusIsRecord;
    assert.deepEqual([first({}), first({ plugins: { svc: [] } })], [true, undefined]);
    const admitted = new Loop(spec);
    admitted.step();
    admitted.admit();
    const creating = admitted.step();
    const seeing = admitted.step();
    assert.deepEqual(
      [creating, seeing].map(({ safety, stages }) => [safety?.statusIsRecord, stages.flat().length]),
      [
        [true, 2],
        [undefined, 0],
      ],
    );
    assert.deepEqual(seeing.status, creating.status, "a status that is the record counts pods before they exist");
    assert.equal(seeing.status?.["pending"], 2);
  });

  test("has a record before pods that take more than one round of creations", () => {
    const large = new Loop({ tasks: [task("w", 500)] });
    large.step();
    large.admit();
    large.deeds.length = 0;
    large.step();
    assert.deepEqual([large.deeds.length, large.last?.safety?.statusIsRecord], [500, undefined]);
  });

  test("waits for its PodGroup without another step, and without a timer", () => {
    assert.deepEqual(
      [loop.last?.safety?.live, does(loop.last, "again"), waitIn(loop.last).pollMs],
      [undefined, undefined, undefined],
    );
  });

  test("with a status of another controller reads both of its PodGroups", () => {
    const left = new Loop({ tasks: [task("w", 2)] }, { status: { state: { phase: "Running" } } });
    assert.equal(
      looks(left)
        .map(pluralOf)
        .filter((plural) => plural === "podgroups").length,
      2,
    );
  });
});

describe("a step on cached objects", () => {
  test("needs no live reads to act on a pod that was read again", () => {
    const loop = new Loop(restarting("RestartPod")).running();
    loop.fail("j-w-1", 3);
    assert.equal(loop.step().safety?.live, undefined);
  });

  test("reads a failed pod and an evicted pod by their names before it acts on them", () => {
    const asked: (Query & { readonly do: "get" })[] = [];
    const watching = (loop: Loop): void => {
      loop.blind = (query) => {
        if (query.do === "get" && query.ref.resource.plural === "pods") asked.push(query);
        return false;
      };
    };
    const failing = new Loop(restarting("RestartPod")).running();
    watching(failing);
    failing.fail("j-w-1", 3);
    failing.step();
    const evicted = new Loop({
      ...restarting("RestartPod"),
      policies: [{ event: "PodEvicted", action: "RestartPod" }],
    });
    evicted.running();
    watching(evicted);
    evicted.objects.delete("pods/j-w-1");
    evicted.step();
    assert.deepEqual(
      asked.map(({ ref }) => ref.name),
      ["j-w-1", "j-w-1"],
    );
  });

  test("needs live reads to abort, to complete and to shrink a job", () => {
    const aborting = new Loop(restarting("AbortJob")).running();
    aborting.fail("j-w-1", 3);
    aborting.step();
    assert.deepEqual([aborting.step().safety?.live, aborting.memory?.phase], [true, "Aborted"]);
    const done = new Loop(restarting("RestartJob")).running();
    done.pods("Succeeded");
    done.step();
    assert.deepEqual([done.memory?.phase, done.last?.safety?.live], ["Completed", true]);
    const shrinking = new Loop(restarting("RestartJob")).running();
    shrinking.change("jobs", "j", { spec: { tasks: [task("w", 1)] }, metadata: { generation: 2 } });
    assert.equal(shrinking.step().safety?.live, true);
  });

  test("needs live reads for an action that no pod is read again for", () => {
    const ordered = new Loop({ tasks: [task("w", 1)] }).running();
    ordered.change("jobs", "j", { metadata: { annotations: { "rekindle.dev/suspend": "true" } } });
    assert.equal(ordered.step().safety?.live, true);
  });

  test("needs live reads if the pod that its action rests on is not found by its name", () => {
    const loop = new Loop(restarting("RestartPod")).running();
    loop.fail("j-w-1", 3);
    loop.blind = (query) => query.do === "get" && query.ref.resource.plural === "pods";
    const { safety, stages, next } = loop.step(true);
    assert.deepEqual([safety?.live, stages, next], [true, [], { do: "wait", pollMs: 1_000 }]);
  });

  test("needs live reads for an Event that is owed beside an action for which no pod is read again", () => {
    const policies = [{ event: "PodFailed", action: "AbortJob", timeout: "10m" }];
    const loop = new Loop({ tasks: [task("w", 3)], policies }).running();
    loop.fail("j-w-1", 3);
    const owed = loop.step(true);
    loop.order("TerminateJob");
    const beside = loop.step(true);
    assert.deepEqual(
      [owed, beside].map(({ safety, stages, next }) => [
        safety?.live,
        stages.flat().map(({ do: act }) => act),
        next.do,
      ]),
      [
        [undefined, ["record"], "continue"],
        [true, ["record"], "continue"],
      ],
    );
  });

  test("rests when a finished job needs nothing, and not when its PodGroup has come back", () => {
    const done = new Loop(restarting("RestartJob")).running();
    const [group] = [...done.objects.values()].filter(({ kind }) => kind === "PodGroup");
    done.pods("Succeeded");
    done.step();
    const before = done.memory;
    const rest = done.step();
    assert.deepEqual([rest.memory, rest.stages, rest.status], [before, [], done.job().status]);
    assert.ok(group);
    done.put("podgroups", { ...group });
    const plan = done.step();
    assert.deepEqual([plan.stages.flat().map(({ do: act }) => act), plan.safety?.live], [["delete"], true]);
  });

  test("fences a status with a phase that it did not reach itself", () => {
    const loop = new Loop(restarting("RestartPod")).running();
    const late = loop.memory;
    loop.fail("j-w-1", 3);
    loop.step();
    loop.memory = late;
    assert.equal(loop.step().safety?.fenced, true);
    assert.equal(new Loop(restarting("RestartPod")).step().safety?.fenced, undefined);
  });
});

describe("a finished pod that a policy restarts", () => {
  test("is created again in the step that deletes it", () => {
    const loop = new Loop(restarting("RestartPod")).running();
    loop.deeds.length = 0;
    loop.fail("j-w-1", 3);
    loop.step();
    assert.deepEqual(loop.deeds, ["delete pods j-w-1", "create pods j-w-1"]);
    assert.equal(loop.phases.at(-1), "Restarting");
  });

  const rows = [
    ["with a finalizer", restarting("RestartPod"), { metadata: { finalizers: ["example.com/held"] } }],
    ["at the last retry", { ...restarting("RestartPod"), maxRetry: 1 }, {}],
  ] as const;
  for (const [which, spec, more] of rows)
    test(`${which} is not created again in that step`, () => {
      const loop = new Loop(spec).running();
      loop.change("pods", "j-w-1", more);
      loop.deeds.length = 0;
      loop.fail("j-w-1", 3);
      loop.step();
      assert.deepEqual(loop.deeds, ["delete pods j-w-1"]);
    });

  test("is created again alone: running pods are only deleted in that step", () => {
    const loop = new Loop(restarting("RestartTask")).running();
    loop.deeds.length = 0;
    loop.fail("j-w-1", 3);
    loop.step();
    assert.deepEqual(
      loop.deeds.filter((deed) => deed.startsWith("create")),
      ["create pods j-w-1"],
    );
  });
});

describe("a job of many pods", () => {
  const many = (count: number): Loop => {
    const loop = new Loop({ tasks: [task("w", count)] }).run();
    loop.admit();
    loop.deeds.length = 0;
    loop.step();
    return loop;
  };

  test("creates a thousand pods in one step, each once", () => {
    const loop = many(1_000);
    assert.equal(loop.deeds.length, 1_000);
    assert.deepEqual([does(loop.last, "continue"), does(loop.last, "again")], [undefined, undefined]);
  });

  test("creates at most 1,600 pods in one step and leaves the rest to the next", () => {
    const loop = many(3_000);
    assert.equal(loop.deeds.length, 1_600);
    assert.equal(does(loop.last, "again"), true);
  });
});

test("a step reads a PodGroup that it leaves behind twice before it counts the group as gone", () => {
  const loop = new Loop(restarting("RestartJob")).running();
  const [name = ""] = loop.names("podgroups");
  const uid = loop.objects.get(`podgroups/${name}`)?.metadata.uid;
  loop.fail("j-w-1", 3);
  loop.blind = (query) => query.do === "get" && query.ref.name === name;
  loop.step();
  assert.deepEqual([loop.memory?.version, loop.memory?.retired], [1, uid]);
});

test("policy events that an action leaves over lead to another step at once", () => {
  const loop = new Loop({ ...restarting("RestartPod"), maxRetry: 9 }).running();
  loop.fail("j-w-1", 3);
  assert.equal(does(loop.step(), "again"), undefined);
  loop.fail("j-w-0", 3);
  loop.fail("j-w-2", 3);
  assert.equal(does(loop.step(), "again"), true);
});

describe("the watches of a job", () => {
  const watchOf = (plural: string) => volcanoJob.watches.find(({ resource }) => resource.plural === plural);
  const pod = (phase: string) => ({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", uid: "u", resourceVersion: "1" } },
    ...{ spec: { nodeName: "n", containers: [{ name: "c" }] }, status: { phase, podIP: "10.0.0.1" } },
  });

  test("send an urgent key for a pod's failure", () => {
    const urgent = watchOf("pods")?.urgent;
    assert.deepEqual(
      [
        urgent?.(pod("Running"), pod("Failed")),
        urgent?.(pod("Failed"), pod("Failed")),
        urgent?.(pod("Failed"), undefined),
      ],
      [true, false, false],
    );
  });

  test("send an urgent key for the admission of a group, so that pods are created without a wait", () => {
    const urgent = watchOf("podgroups")?.urgent;
    const group = (phase?: string) => ({
      ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
      ...{ metadata: { name: "g", uid: "u", resourceVersion: "1" } },
      ...(phase === undefined ? {} : { status: { phase } }),
    });
    assert.deepEqual(
      [
        urgent?.(group(), group("Inqueue")),
        urgent?.(group("Pending"), group("Running")),
        urgent?.(undefined, group("Inqueue")),
        urgent?.(undefined, group()),
        urgent?.(group(), group("Pending")),
        urgent?.(group("Inqueue"), group("Running")),
        urgent?.(group("Running"), undefined),
      ],
      [true, true, true, false, false, false, false],
    );
  });

  test("keep a job whole while it has no status, and once its spec has changed", () => {
    const trimmed = watchOf("jobs")?.trim;
    const job = (generation: number, phase?: string) => ({
      ...{ apiVersion: "v1", kind: "Job", metadata: { name: "j", uid: "u", resourceVersion: "1", generation } },
      ...(phase === undefined ? {} : { status: { state: { phase } } }),
    });
    const isWhole = [
      trimmed?.(job(1)),
      trimmed?.(job(1, "Pending")),
      trimmed?.(job(1, "Running"), job(1, "Pending")),
      trimmed?.(job(2, "Running"), job(1, "Running")),
    ].map((one) => one?.["whole"] !== undefined);
    assert.deepEqual(isWhole, [true, false, false, true]);
  });

  test("keep a pod's node and phase, a PodGroup's spec and status, and a Command's action and target", () => {
    const trimmed = watchOf("pods")?.trim?.(pod("Running"));
    assert.deepEqual([trimmed?.["spec"], trimmed?.["status"]], [{ nodeName: "n" }, { phase: "Running" }]);
    const fields = { spec: { minMember: 2, queue: "q" }, status: { phase: "Running", running: 2 } };
    const group = watchOf("podgroups")?.trim?.({ ...pod(""), ...fields });
    assert.deepEqual([group?.["spec"], group?.["status"]], [fields.spec, fields.status]);
    const command = watchOf("commands")?.trim?.({ ...pod(""), action: "AbortJob", target: { name: "j" } });
    assert.deepEqual([command?.["action"], command?.["target"]], ["AbortJob", { name: "j" }]);
  });
});
