/** Rows, changes and deletions as readers of the board get them; namespaces hold; secrets are masked. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fieldsOf } from "../../../../shared/core/json.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import { openBoard } from "../../../../shared/deployments/page/board.ts";
import { type RecordView, recordId, recordView } from "../../../../shared/inspection/record.ts";
import { masked } from "../../../../shared/kube/secret-mask.ts";
import { groups, rowsOf } from "../../../../shared/page/wire.ts";

const now = Date.parse("2026-11-02T08:10:00Z");

const application = (name: string, state: string, namespace = "team-a", version = "1"): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: {
    name,
    namespace,
    uid: `uid-${name}`,
    resourceVersion: version,
    creationTimestamp: "2026-11-02T08:00:00Z",
  },
  spec: { executor: { instances: 3 } },
  status: {
    applicationState: { state, errorMessage: state === "FAILED" ? "exit 1" : "" },
    executorState: { a: "RUNNING" },
  },
});

const record = (name: string, waitsFor: string): Stored => ({
  apiVersion: "rekindle.dev/v1alpha1",
  kind: "Checkpoint",
  metadata: {
    ...{ name: `sparkapplication.${name}`, namespace: "team-a", uid: `record-${name}`, resourceVersion: "1" },
    labels: { "rekindle.dev/kind": "SparkApplication" },
    annotations: { "rekindle.dev/name": name, "rekindle.dev/uid": `uid-${name}` },
  },
  spec: { schema: 1, uid: `uid-${name}`, saves: 1, waitsFor, memory: { history: [] } },
});

const read = (board: ReturnType<typeof openBoard>, namespaces: readonly string[] = [], since?: string) => {
  const { columns, ...batch } = board.read(namespaces, since);
  return { ...batch, rows: rowsOf(columns) };
};

describe("the board of the page", () => {
  test("a row has the state, the pods and the wait as rekindle list prints them", () => {
    const board = openBoard(() => now);
    board.see(application("etl", "SUBMITTED"));
    board.see(record("etl", "executor 3 to get a place"));
    const [row] = read(board).rows;
    assert.deepEqual([row?.state, row?.group, row?.waits], ["SUBMITTED", "waiting", "executor 3 to get a place"]);
    assert.deepEqual(row?.pods, [1, 3, 0]);
  });

  test("a driver that no node takes waits, since its wait began, in group, strip and time; one that comes up does not", () => {
    const rows: readonly (readonly [string, string, number])[] = [
      ["the driver to start (Unschedulable: 0/3 nodes are available)", "waiting", 250],
      ["the driver to start (ImagePullBackOff: Back-off)", "waiting", 250],
      ["the driver to start (ContainerCreating)", "submitted", 250],
      ["the driver to start", "submitted", 250],
    ];
    for (const [waitsFor, group, sinceS] of rows) {
      const board = openBoard(() => now);
      const created = Date.parse("2026-11-02T08:00:00Z") / 1_000;
      const { spec, ...rest } = record("etl", waitsFor);
      const memory = { history: [{ phase: "SUBMITTED", attempt: 1, at: created * 1_000 }] };
      board.see(application("etl", "SUBMITTED"));
      board.see({ ...rest, spec: { ...fieldsOf(spec), memory, timeline: { waiting: [waitsFor, created + sinceS] } } });
      const [row] = read(board).rows;
      assert.deepEqual([row?.group, row?.since], [group, created + sinceS], waitsFor);
      assert.deepEqual(
        row?.strip.map(([at, of]) => [at - created, groups[of]]),
        group === "waiting"
          ? [
              [0, "submitted"],
              [sinceS, "waiting"],
            ]
          : [[0, "submitted"]],
      );
    }
  });

  test("executors that ended as planned are not counted as lost", () => {
    const board = openBoard(() => now);
    const { spec, ...rest } = record("etl", "the driver to finish");
    const lost = { finished: 3, driverEnded: 2, dismissed: 1, removed: 1, memory: 2 };
    board.see(application("etl", "RUNNING"));
    board.see({ ...rest, spec: { ...fieldsOf(spec), memory: { history: [], executors: { lost } } } });
    assert.equal(read(board).rows[0]?.pods[2], 2);
  });

  test("the pods of a Job without a status are not known, and no zero", () => {
    const board = openBoard(() => now);
    const job = (status: object | undefined): Stored => ({
      ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", spec: { tasks: [{ replicas: 2 }] } },
      metadata: { name: "j", namespace: "team-a", uid: "j", resourceVersion: "1" },
      ...(status === undefined ? {} : { status }),
    });
    board.see(job(undefined));
    assert.deepEqual(read(board).rows[0]?.pods, [-1, 2, -1]);
    board.see(job({ state: { phase: "Pending" } }));
    assert.deepEqual(read(board).rows[0]?.pods, [0, 2, -1]);
  });

  test("the row of a failed application has its error", () => {
    const board = openBoard(() => now);
    board.see(application("etl", "FAILED"));
    assert.deepEqual(
      read(board).rows.map(({ group, waits }) => [group, waits]),
      [["failed", "exit 1"]],
    );
  });

  test("a reader gets every change after its revision, deletions too, and none twice", () => {
    const board = openBoard(() => now);
    board.see(application("a", "RUNNING"));
    board.see(application("b", "RUNNING"));
    const first = read(board);
    assert.equal(first.whole, true);
    board.see(application("b", "RUNNING", "team-a", "2"));
    board.gone(application("a", "RUNNING"));
    board.see(application("c", "SUBMITTED"));
    const next = read(board, [], first.id);
    assert.deepEqual(
      [next.whole, next.rows.map(({ name }) => name), next.gone],
      [false, ["c"], ["SparkApplication/team-a/a"]],
    );
    assert.deepEqual(read(board, [], next.id).rows, []);
  });

  test("a reader of another epoch gets all rows", () => {
    const board = openBoard(() => now);
    board.see(application("a", "RUNNING"));
    assert.equal(read(board, [], "0123456789ab-1").whole, true);
  });

  test("a caller of one namespace gets no row, deletion or count of another", () => {
    const board = openBoard(() => now);
    board.see(application("mine", "RUNNING", "team-a"));
    const first = read(board, ["team-a"]);
    for (let at = 0; at < 20; at += 1) board.see(application(`other-${at}`, "RUNNING", "team-b"));
    board.gone(application("other-1", "RUNNING", "team-b"));
    const next = read(board, ["team-a"], first.id);
    assert.deepEqual([next.rows, next.gone, next.id], [[], [], first.id]);
    assert.deepEqual(
      read(board, ["team-a"]).rows.map(({ name }) => name),
      ["mine"],
    );
  });

  test("the deletion of an object does not remove its namesake that came after it", () => {
    const board = openBoard(() => now);
    const before = application("etl", "RUNNING");
    board.see(before);
    board.see({ ...before, metadata: { ...before.metadata, uid: "another" } });
    board.gone(before);
    assert.equal(read(board).rows.length, 1);
  });

  test("a listener is called for its application when one of its pods changes", () => {
    const board = openBoard(() => now);
    const heard: string[] = [];
    board.subscribe((key) => heard.push(key));
    board.see({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...{ name: "etl-exec-1", namespace: "team-a", uid: "pod-1", resourceVersion: "1" },
        labels: { "sparkoperator.k8s.io/app-name": "etl", "spark-role": "executor", "spark-exec-id": "1" },
      },
      status: { containerStatuses: [{ state: { terminated: { exitCode: 137, finishedAt: "2026-11-02T08:05:00Z" } } }] },
    });
    assert.deepEqual(heard, ["SparkApplication/team-a/etl"]);
    const [lane] = board.lanes("SparkApplication/team-a/etl");
    assert.deepEqual([lane?.id, lane?.exit, lane?.end], [1, 137, Date.parse("2026-11-02T08:05:00Z")]);
  });
});

test("values that look like secrets are masked, also in a container's environment", () => {
  const spec = {
    sparkConf: { "spark.hadoop.fs.s3a.secret.key": "canary", "spark.executor.cores": "4" },
    driver: {
      env: [
        { name: "DB_PASSWORD", value: "canary" },
        { name: "ZONE", value: "a" },
      ],
    },
    imagePullSecrets: ["registry"],
  };
  const text = JSON.stringify(masked(spec));
  assert.ok(!text.includes("canary"));
  assert.ok(text.includes('"4"') && text.includes('"a"') && text.includes("registry"));

  test("every save of a record is a change of its application, and its losses mark the lanes", () => {
    const board = openBoard(() => now);
    board.see(application("etl", "RUNNING"));
    board.see({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...{ name: "etl-exec-2", namespace: "team-a", uid: "exec-2", resourceVersion: "1" },
        labels: {
          ...{ "spark-role": "executor", "spark-exec-id": "2" },
          ...{ "sparkoperator.k8s.io/app-name": "etl", "rekindle.dev/attempt": "1" },
        },
      },
    });
    const key = "SparkApplication/team-a/etl";
    const heard: string[] = [];
    board.subscribe((application) => heard.push(application));
    const executors = { lost: { deleted: 1 }, losses: [{ id: 2, uid: "exec-2", reason: "deleted", at: now }] };
    const saved = { schema: 1, uid: "uid-etl", saves: 2, memory: { history: [], executors } };
    const applicationKey = { cluster: "default", kind: "SparkApplication", namespace: "team-a", name: "etl" };
    board.recorded(applicationKey, saved);
    assert.deepEqual(
      board.lanes(key).map(({ lost, reason }) => [lost, reason]),
      [[true, "deleted"]],
    );
    board.recorded(applicationKey, { ...saved, saves: 3 });
    assert.ok(heard.filter((one) => one === key).length >= 2, heard.join());
  });

  test("an application whose record cannot be used waits for its repair, in the text of rekindle status", () => {
    const board = openBoard(() => now);
    const running = application("etl", "RUNNING");
    const applicationState = { state: "RUNNING", errorMessage: `held up: RecoveryFailed: memory.attempt: no number` };
    board.see({ ...running, status: { applicationState } });
    const [row] = read(board).rows;
    assert.deepEqual(
      [row?.group, row?.waits],
      [
        "waiting",
        "its checkpoint to be repaired (RecoveryFailed); until then Rekindle writes nothing for it: memory.attempt: no number",
      ],
    );
  });
});

describe("the memory of the board is bounded:", () => {
  const long = "x".repeat(300_000);

  test("a row has short texts", () => {
    const board = openBoard(() => now);
    const one = application("etl", long);
    board.see({ ...one, spec: { batchSchedulerOptions: { queue: long }, executor: { instances: 3 } } });
    board.see(record("etl", long));
    board.see({
      ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "ScheduledSparkApplication" },
      metadata: { ...one.metadata, name: "nightly", uid: "nightly" },
      ...{ spec: { schedule: long, timeZone: long }, status: { scheduleState: long, reason: long } },
    });
    assert.ok(JSON.stringify(read(board)).length < 5_000, `${JSON.stringify(read(board)).length}`);
  });

  test("changes of applications that only pods name are evicted, except the newest", () => {
    const board = openBoard(() => now);
    const pod = (at: number): Stored => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...{ name: `p-${at}`, namespace: "mallory", uid: `${at}`, resourceVersion: "1" },
        labels: { "volcano.sh/job-name": `job-${at}` },
      },
    });
    for (let at = 0; at < 21_000; at += 1) board.see(pod(at));
    assert.equal(board.changes("Job/mallory/job-1"), 0);
    assert.ok(board.changes("Job/mallory/job-20999") > 0);
  });

  test("a reader gets each changed row once, even if its revision is older than the kept changes", () => {
    const board = openBoard(() => now);
    for (const name of ["a", "b", "c"]) board.see(application(name, "SUBMITTED"));
    const { id } = read(board);
    const states = ["RUNNING", "SUBMITTED"];
    for (let at = 0; at < 5; at += 1) board.see(application("a", states[at % 2] ?? "", "team-a", `${at + 2}`));
    assert.deepEqual(
      read(board, [], id).rows.map(({ name, state }) => [name, state]),
      [["a", "RUNNING"]],
    );
    for (let at = 0; at < 25_000; at += 1) board.see(application("b", states[at % 2] ?? "", "team-a", `${at + 2}`));
    assert.deepEqual(
      read(board, [], id)
        .rows.map(({ name }) => name)
        .toSorted(),
      ["a", "b"],
    );
  });
});

describe("records of before", () => {
  const keyOf = (name: string) => ({ cluster: "", kind: "SparkApplication", namespace: "team-a", name });
  const stored = (waitsFor: string) => ({ schema: 1, uid: "u", saves: 1, waitsFor, memory: {} });
  const waitsOf = (board: ReturnType<typeof openBoard>): readonly string[] =>
    rowsOf(board.read([]).columns).map(({ waits }) => waits);

  test("are taken in by five hundred, so that thousands do not hold up the process, and never over an own save", async () => {
    const board = openBoard(() => now);
    const names = Array.from({ length: 1_200 }, (_, nth) => `app-${nth}`);
    const records = new Map<string, RecordView>();
    for (const name of names) {
      board.see(application(name, "NEW"));
      const view = recordView(stored("before"));
      assert.ok(view);
      records.set(recordId(keyOf(name)), view);
    }
    const taking = board.remember(records);
    const countOf = (text: string): number => waitsOf(board).filter((waits) => waits.includes(text)).length;
    assert.equal(countOf("before"), 500);
    board.recorded(keyOf("app-1199"), stored("own"));
    await taking;
    assert.deepEqual([countOf("before"), countOf("own")], [1_199, 1]);
  });
});
