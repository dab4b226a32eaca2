/** Plugins together: their order, their notes in the status, their refusals, and unknown flags. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { notesOf, objectsOf, onPod, pluginProblems, refusedBy } from "../../../../shared/volcano/plugins/all.ts";

const owner = { name: "train", namespace: "default", uid: "u1" };
const tasks = [
  { name: "master", replicas: 1 },
  { name: "worker", replicas: 2 },
];
const scope = { owner, tasks };
const draft = {
  metadata: {
    name: "train-worker-1",
    labels: { "volcano.sh/task-index": "1" },
    annotations: { "volcano.sh/task-spec": "worker" },
  },
  spec: { containers: [{ name: "main", image: "x" }] },
};

const saidOf = (...given: Parameters<typeof pluginProblems>): readonly string[] =>
  pluginProblems(...given).map(({ message }) => message);

describe("plugins tell before pods start what does not work as the job asks", () => {
  const many = (replicas: number) => [{ name: "worker", replicas }];
  const rayTasks = (container: object) => [
    { name: "head", template: { spec: { containers: [{ name: "head", ...container }] } } },
    { name: "worker", template: { spec: { containers: [{ name: "other", command: ["mine"] }] } } },
  ];
  const long = "a-job-whose-name-is-long";
  const rows = [
    { what: "a name that no Service can have", name: "a.b", tasks: many(1), asked: { svc: [] }, says: [/has a dot/] },
    { what: "a name that one can have", name: "a-b", tasks: many(1), asked: { svc: [] }, says: [] },
    {
      ...{ what: "hosts beyond a variable of Linux", name: long, tasks: many(2_500), asked: { svc: [] } },
      says: [/variable VC_WORKER_HOSTS has \d+ bytes.*--inject-hosts-env=false/],
    },
    {
      ...{ what: "hosts that no variable has", name: long, tasks: many(2_500) },
      ...{ asked: { svc: ["--inject-hosts-env=false"] }, says: [] },
    },
    {
      ...{ what: "hosts beyond a ConfigMap", name: long, tasks: many(12_000) },
      ...{
        asked: { svc: ["--inject-hosts-env=false"] },
        says: [/ConfigMap a-job-whose-name-is-long-svc .*fewer replicas/],
      },
    },
    {
      ...{
        what: "a command that ray replaces",
        name: "a",
        tasks: rayTasks({ command: ["python"] }),
        asked: { ray: [] },
      },
      says: [/container head of task head/],
    },
    {
      ...{ what: "arguments that ray drops", name: "a", tasks: rayTasks({ args: ["x"] }), asked: { ray: [] } },
      says: [/container head of task head/],
    },
    { what: "no command", name: "a", tasks: rayTasks({}), asked: { ray: [] }, says: [] },
  ];
  for (const { what, name, tasks: its, asked, says } of rows)
    test(what, () => {
      const said = saidOf({ owner: { ...owner, name }, tasks: its }, asked);
      assert.equal(said.length, says.length, said.join());
      for (const [at, words] of says.entries()) assert.match(said[at] ?? "", words);
    });
});

describe("plugins", () => {
  test("build the same pod in every order of their names", () => {
    const one = onPod(draft, scope, { pytorch: [], hcclrank: [], svc: [], ssh: [] });
    assert.deepEqual(one, onPod(draft, scope, { ssh: [], svc: [], hcclrank: [], pytorch: [] }));
    assert.equal(one.metadata.annotations?.["hccl/rankIndex"], "2");
  });

  test("are recorded in the status as upstream does", () => {
    assert.deepEqual(notesOf({ svc: [], hcclrank: [] }), { "plugin-svc": "svc" });
  });

  test("refuse ray without a head task", () => {
    assert.match(refusedBy(scope, { ray: [] }) ?? "", /head task head/);
    assert.equal(refusedBy(scope, { ray: ["--head=master"] }), undefined);
  });

  describe("report the first flag that they do not know, without its value", () => {
    const ignored = "ignored with all that follows it, as upstream does";
    const rows: readonly (readonly [string, Readonly<Record<string, string[]>>, readonly string[]])[] = [
      [
        "unknown flags of two plugins",
        { svc: ["--disable-network-policy", "--quick=yes"], ssh: ["--no-root"] },
        [
          `spec.plugins.svc: flag --quick is unknown: ${ignored}`,
          `spec.plugins.ssh: flag --no-root is unknown: ${ignored}`,
        ],
      ],
      [
        "a misspelt flag that holds a key",
        { ssh: ["--ssh-privat-key=MIIEsecret"] },
        [`spec.plugins.ssh: flag --ssh-privat-key is unknown: ${ignored}; did you mean --ssh-private-key?`],
      ],
      [
        "a flag with a text in place of a number",
        { mpi: ["--port=many"] },
        [`spec.plugins.mpi: flag --port needs a whole number: ${ignored}`],
      ],
      [
        "a switch that is neither on nor off",
        { svc: ["--inject-hosts-env=maybe"] },
        [`spec.plugins.svc: flag --inject-hosts-env needs true or false: ${ignored}`],
      ],
      ["a flag without its value", { mpi: ["--port"] }, [`spec.plugins.mpi: flag --port needs a value: ${ignored}`]],
      [
        "an argument that is no flag",
        { mpi: ["--port=2", "MIIEsecret"] },
        [`spec.plugins.mpi: argument 2 is no flag: ${ignored}`],
      ],
      [
        "a key in place of a flag",
        { ssh: ["-----BEGIN RSA PRIVATE KEY-----\nMIIE"] },
        [`spec.plugins.ssh: argument 1 is no flag: ${ignored}`],
      ],
      [
        "a key behind a dash",
        { ssh: [`-MIIE${"a".repeat(60)}`] },
        [`spec.plugins.ssh: argument 1 is an unknown flag: ${ignored}`],
      ],
      [
        "a colon in place of the equals sign",
        { ssh: ["--ssh-private-key:MIIEsecret"] },
        [`spec.plugins.ssh: argument 1 is an unknown flag: ${ignored}`],
      ],
      ["no problem for valid flags", { ssh: ["-ssh-port", "2222"], env: [] }, []],
    ];
    for (const [what, asked, want] of rows)
      test(what, () => assert.deepEqual(saidOf({ owner, tasks: [] }, asked), want));
  });

  test("leave an mpi master without a task of workers as it is, as upstream does; other tasks get the port", () => {
    const podOf = (task: string) => ({
      ...draft,
      metadata: { ...draft.metadata, annotations: { "volcano.sh/task-spec": task } },
    });
    const alone = {
      owner,
      tasks: [
        { name: "master", replicas: 1 },
        { name: "logger", replicas: 1 },
      ],
    };
    const ports = [{ name: "mpijob-port", containerPort: 22 }];
    const made = (task: string) => onPod(podOf(task), alone, { mpi: [] }).spec["containers"];
    assert.deepEqual(made("master"), [{ name: "main", image: "x" }]);
    assert.deepEqual(made("logger"), [{ name: "main", image: "x", ports }]);
    const without = {
      owner,
      tasks: [
        { name: "master", replicas: 1 },
        { name: "worker", replicas: 0 },
      ],
    };
    const env = [{ name: "MPI_HOST", value: "" }];
    assert.deepEqual(onPod(podOf("master"), without, { mpi: [] }).spec["containers"], [
      { name: "main", image: "x", env, ports },
    ]);
  });

  test("generate no key pair if the job specifies one", () => {
    const fresh = (args: readonly string[]): unknown => objectsOf(scope, { ssh: [...args] }).map((kept) => kept.fresh);
    assert.deepEqual(fresh([]), ["ssh-key"]);
    assert.deepEqual(fresh(["--ssh-private-key=a", "--ssh-public-key=b"]), [undefined]);
  });

  test("let a worker wait for its master with a script of their own, up to the timeout of the flag", () => {
    const asked = ["--wait-master-enabled=true", "--wait-master-timeout=7"];
    const { initContainers } = onPod(draft, scope, { pytorch: asked }).spec;
    assert.match(JSON.stringify(initContainers), /\+ 7\).*train-master-0\.train 23456/);
  });
});
