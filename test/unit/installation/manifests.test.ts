/** `rekindle manifests` prints an installation that a cluster accepts, with the least rights that suffice. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { printedManifests } from "../cli/printed-manifests.ts";
import { application, make, openTerminal } from "../cli/terminal.ts";

const named = (objects: readonly Obj[]): readonly string[] =>
  objects.map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name].filter(Boolean).join("/"));

describe("rekindle manifests", () => {
  test("prints CRDs, then every object of a host, in an order that can be applied", async () => {
    assert.deepEqual(named(await printedManifests()), [
      "CustomResourceDefinition/cronjobs.batch.volcano.sh",
      "CustomResourceDefinition/jobs.batch.volcano.sh",
      "CustomResourceDefinition/commands.bus.volcano.sh",
      "CustomResourceDefinition/jobflows.flow.volcano.sh",
      "CustomResourceDefinition/jobtemplates.flow.volcano.sh",
      "CustomResourceDefinition/checkpoints.rekindle.dev",
      "CustomResourceDefinition/podgroups.scheduling.volcano.sh",
      "CustomResourceDefinition/queues.scheduling.volcano.sh",
      "CustomResourceDefinition/scheduledsparkapplications.sparkoperator.k8s.io",
      "CustomResourceDefinition/sparkapplications.sparkoperator.k8s.io",
      "CustomResourceDefinition/sparkconnects.sparkoperator.k8s.io",
      "Namespace/rekindle",
      "ServiceAccount/rekindle/rekindle",
      "ClusterRole/rekindle-host",
      "ClusterRoleBinding/rekindle-host",
      "Deployment/rekindle/rekindle",
      "Service/rekindle/rekindle",
      "NetworkPolicy/rekindle/rekindle",
      "ConfigMap/rekindle/rekindle-installation",
    ]);
  });

  test("prints objects that a cluster accepts", async () => {
    const { simulator } = openTerminal({ crds: false });
    await make(simulator, ...(await printedManifests()));
  });

  test("prints a PodMonitor that selects the host's port, where one is asked for", async () => {
    const objects = await printedManifests("--pod-monitor");
    const monitor = objects.find(({ kind }) => kind === "PodMonitor");
    assert.deepEqual(monitor?.["spec"], {
      selector: { matchLabels: { "app.kubernetes.io/name": "rekindle" } },
      podMetricsEndpoints: [{ port: "http", path: "/metrics" }],
    });
    const deployment = JSON.stringify(objects.find(({ kind }) => kind === "Deployment"));
    assert.match(deployment, /"labels":\{"app\.kubernetes\.io\/name":"rekindle"/);
    assert.match(deployment, /"name":"http","containerPort":8080/);
    const { code, err } = await openTerminal().run("manifests", "--pod-monitor", "--without-deployment");
    assert.deepEqual([code, /--pod-monitor/.test(err)], [1, true]);
  });

  test("admits only the networks of the API servers to admission's port, where they are given", async () => {
    const objects = await printedManifests("--admission", "--admission-from", "10.0.0.0/28,fd00::/64");
    const policy = objects.find(({ kind }) => kind === "NetworkPolicy");
    assert.deepEqual(JSON.parse(JSON.stringify(policy?.["spec"])).ingress, [
      { ports: [{ protocol: "TCP", port: 8080 }] },
      {
        from: [{ ipBlock: { cidr: "10.0.0.0/28" } }, { ipBlock: { cidr: "fd00::/64" } }],
        ports: [{ protocol: "TCP", port: 9443 }],
      },
    ]);
    for (const args of [
      ["--admission", "--admission-from", "10.0.0.1"],
      ["--admission-from", "10.0.0.0/28"],
    ]) {
      const { code, err } = await openTerminal().run("manifests", ...args);
      assert.deepEqual([code, /--admission-from/.test(err)], [1, true]);
    }
  });

  const choices: readonly (readonly [readonly string[], readonly string[], readonly string[]])[] = [
    [["--without-crds"], ["Deployment/rekindle/rekindle"], ["CustomResourceDefinition/checkpoints.rekindle.dev"]],
    [
      ["--without-crds", "sparkoperator.k8s.io"],
      ["CustomResourceDefinition/checkpoints.rekindle.dev"],
      ["CustomResourceDefinition/sparkapplications.sparkoperator.k8s.io"],
    ],
    [
      ["--without-deployment"],
      ["CustomResourceDefinition/checkpoints.rekindle.dev", "ClusterRole/rekindle-host"],
      ["Deployment/rekindle/rekindle"],
    ],
    [
      ["--rbac-only"],
      ["Namespace/rekindle", "ServiceAccount/rekindle/rekindle", "ClusterRole/rekindle-host"],
      ["Deployment/rekindle/rekindle", "CustomResourceDefinition/checkpoints.rekindle.dev"],
    ],
    [
      ["--namespaces", "a,b", "--namespace=batch"],
      ["Role/a/rekindle-host", "RoleBinding/b/rekindle-host", "Role/kube-system/rekindle-identity", "Namespace/batch"],
      ["ClusterRole/rekindle-host", "ClusterRoleBinding/rekindle-host", "Namespace/rekindle"],
    ],
    [
      ["--namespace-selector=spark=enabled", "--namespaces=a"],
      ["ClusterRole/rekindle-host", "ClusterRole/rekindle-namespaces", "ClusterRoleBinding/rekindle-namespaces"],
      ["Role/a/rekindle-host"],
    ],
    [
      ["--spark-namespace", "default"],
      ["ServiceAccount/default/spark", "ServiceAccount/default/spark-operator-spark", "Role/default/rekindle-driver"],
      [],
    ],
    [
      ["--nodes", "--namespaces=a"],
      ["ClusterRole/rekindle-nodes", "ClusterRoleBinding/rekindle-nodes", "Role/a/rekindle-host"],
      ["ClusterRole/rekindle-host"],
    ],
    [
      ["--admission"],
      [
        "Service/rekindle/rekindle-admission",
        "ClusterRole/rekindle-registration",
        "RoleBinding/rekindle/rekindle-certificate",
        "Deployment/rekindle/rekindle",
      ],
      ["MutatingWebhookConfiguration/rekindle"],
    ],
    [
      ["--admission-url=https://door.example/x/"],
      ["MutatingWebhookConfiguration/rekindle", "ValidatingWebhookConfiguration/rekindle"],
      ["Namespace/rekindle"],
    ],
    [
      ["--policies", "--namespaces=a,b"],
      [
        "ValidatingAdmissionPolicy/sparkapplications.rekindle.dev",
        "ValidatingAdmissionPolicyBinding/sparkconnects.rekindle.dev",
      ],
      ["Namespace/rekindle"],
    ],
    [
      ["--functions=forward,resync"],
      ["Namespace/rekindle", "ServiceAccount/rekindle/rekindle-forward", "ClusterRoleBinding/rekindle-resync"],
      ["ClusterRole/rekindle-reconcile", "ServiceAccount/rekindle/rekindle", "Deployment/rekindle/rekindle"],
    ],
    [
      ["--functions=dispatch,reconcile", "--admission", "--namespaces=a"],
      [
        ...["ClusterRole/rekindle-dispatch-registration", "ClusterRoleBinding/rekindle-dispatch-registration"],
        ...["Role/rekindle/rekindle-dispatch-certificate", "Role/a/rekindle-dispatch"],
      ],
      [
        "ClusterRole/rekindle-dispatch",
        "ClusterRole/rekindle-reconcile-registration",
        "Service/rekindle/rekindle-admission",
      ],
    ],
    [
      ["--functions=reconcile,dispatch", "--namespaces=a,b", "--nodes"],
      [
        ...["Role/a/rekindle-reconcile", "RoleBinding/b/rekindle-reconcile", "Role/b/rekindle-dispatch"],
        ...["Role/kube-system/rekindle-reconcile-identity", "Role/rekindle/rekindle-lease"],
        ...["ClusterRole/rekindle-reconcile-nodes", "ClusterRole/rekindle-dispatch-nodes"],
      ],
      [
        ...["ClusterRole/rekindle-reconcile", "ClusterRole/rekindle-dispatch"],
        "ClusterRole/rekindle-dispatch-registration",
      ],
    ],
    [
      ["--functions", "--namespaces=a", "--namespace-selector=spark=enabled"],
      ["ClusterRole/rekindle-reconcile"],
      ["Role/a/rekindle-reconcile"],
    ],
    [
      ["--crds-only"],
      ["CustomResourceDefinition/checkpoints.rekindle.dev"],
      ["Namespace/rekindle", "ClusterRole/rekindle-host", "ConfigMap/rekindle/rekindle-installation"],
    ],
    [["--rbac-only"], ["ClusterRole/rekindle-host"], ["ConfigMap/rekindle/rekindle-installation"]],
    [["--functions", "--nodes"], ["ClusterRole/rekindle-reconcile", "ServiceAccount/rekindle/rekindle-deliver"], []],
    [["--spark-namespace=x", "--spark-account=me"], ["ServiceAccount/x/me"], ["ServiceAccount/x/spark"]],
  ];
  for (const [args, there, absent] of choices) {
    test(`${args.join(" ")} prints the objects of its options`, async () => {
      const names = named(await printedManifests(...args));
      assert.deepEqual(
        there.filter((name) => !names.includes(name)),
        [],
      );
      assert.deepEqual(
        absent.filter((name) => names.includes(name)),
        [],
      );
    });
  }

  test("grants no wildcard, secrets and pods only with features, and hardly more patches than of status", async () => {
    const roles = (await printedManifests("--spark-namespace", "default")).filter(({ kind }) => /Role$/.test(kind));
    const text = JSON.stringify(roles);
    assert.ok(roles.length === 2);
    assert.doesNotMatch(text, /"\*"|escalate|impersonate|"bind"|secrets|pods\/proxy/);
    const host = JSON.stringify(roles.filter(({ metadata }) => metadata.name === "rekindle-host"));
    const patched = [...host.matchAll(/"resources":\[([^\]]*)\],"verbs":\["patch"\]/g)].map(
      ([, resources]) => resources,
    );
    assert.deepEqual(patched, [
      '"sparkapplications/status","scheduledsparkapplications/status","sparkconnects/status"',
      '"jobs"',
      '"jobs/status","cronjobs/status"',
      '"jobflows/status","jobtemplates/status"',
      '"queues"',
      '"queues/status"',
      '"pods/status"',
      '"services","configmaps"',
      '"podgroups"',
      '"pods"',
      '"workloads"',
      '"workloads/status"',
    ]);
    assert.equal(host.match(/"patch"/g)?.length, patched.length);
  });

  test("runs the host as an unprivileged user, on a read-only file system", async () => {
    const [deployment] = (await printedManifests()).filter(({ kind }) => kind === "Deployment");
    const text = JSON.stringify(deployment);
    for (const part of [
      '"replicas":1',
      '"type":"Recreate"',
      '"runAsNonRoot":true',
      '"readOnlyRootFilesystem":true',
      '"path":"/healthz"',
      '"path":"/readyz"',
      '"enableServiceLinks":false',
      '"image":"rekindle:1.2.3"',
    ]) {
      assert.ok(text.includes(part), part);
    }
  });

  const selections = [
    {
      args: ["--namespace-selector=env in (a,b),!old"],
      want: /- name: REKINDLE_NAMESPACE_SELECTOR\n +value: env in \(a,b\),!old\n/,
    },
    {
      args: ["--policies", "--namespace-selector=env in (a,b)"],
      want: /namespaceSelector:\n +matchExpressions:\n +- key: env\n +operator: In\n +values:\n +- a\n +- b\n/,
    },
    {
      args: ["--admission-url=https://door.example", "--namespace-selector=spark"],
      want: /namespaceSelector:\n +matchExpressions:\n +- key: spark\n +operator: Exists\n/,
    },
  ];
  for (const { args, want } of selections) {
    test(`${args.join(" ")} selects namespaces by their labels`, async () => {
      assert.match((await openTerminal().run("manifests", ...args)).out, want);
    });
  }

  test("refuses a selector where only names are possible", async () => {
    const { code, err } = await openTerminal().run(
      "manifests",
      "--policies",
      "--namespaces=a",
      "--namespace-selector=b",
    );
    assert.equal(code, 1);
    assert.match(
      err,
      /--namespaces or --namespace-selector, not both: every namespace has the label kubernetes\.io\/metadata/,
    );
  });

  const groups = JSON.stringify([{ resourceGroup: "gpu", labels: { pool: "gpu" } }]);
  const podFlags = ["--admission-queue-gate", `--admission-resource-groups=${groups}`];

  test("gives the host the setting for admission of pods, and selects the pods for a function", async () => {
    const host = (await openTerminal().run("manifests", "--admission", ...podFlags)).out;
    assert.match(host, /- --admission-queue-gate\n +- "?'?--admission-resource-groups=\[\{"resourceGroup":"gpu"/);
    const url = "--admission-url=https://door.example";
    const hooks = (await openTerminal().run("manifests", url, ...podFlags)).out;
    assert.match(hooks, /name: volcano-pods\.rekindle\.dev/);
    assert.match(hooks, /object\.metadata\.annotations\["volcano\.sh\/resource-group"\] == "gpu"/);
    const plain = (await openTerminal().run("manifests", url)).out;
    assert.doesNotMatch(plain.split("ValidatingWebhook")[0] ?? "", /volcano-pods/);
  });

  const unwritten: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [["--functions=reconcile", "--admission"], /dispatch or admission serves it: name one of them in --functions/],
    [podFlags, /admission does this: add --admission, or --admission-url/],
    [["--admission", "--admission-resource-groups=gpu"], /--admission-resource-groups: write JSON/],
    [
      ["--admission", "--admission-resource-groups=[{}]"],
      /--admission-resource-groups: \[0\]\.resourceGroup: write a text/,
    ],
  ];
  for (const [args, says] of unwritten)
    test(`${args.join(" ")} is refused`, async () => {
      const { code, err } = await openTerminal().run("manifests", ...args);
      assert.equal(code, 1);
      assert.match(err, says);
    });

  test("refuses an unknown function, and lists the known ones", async () => {
    const { code, out, err } = await openTerminal().run("manifests", "--functions=wake");
    assert.deepEqual([code, out], [1, ""]);
    assert.match(
      err,
      /"wake" is not a function with rights: write forward, dispatch, reconcile, resync, deliver, api, admission, submitter/,
    );
  });

  const mistakes = [
    ["--namespace=A_"],
    ["--namespace-selector=a in b"],
    ["--namespaces", "a,-b"],
    ["--spark-namespace=x.y"],
    ["--image="],
  ];
  for (const args of mistakes) {
    test(`refuses ${args.join(" ")} in one line before it prints anything`, async () => {
      const { code, out, err } = await openTerminal().run("manifests", ...args);
      assert.equal(code, 1);
      assert.equal(out, "");
      assert.match(
        err,
        /^rekindle: "[^\n]*" is not (a name for Kubernetes|the name of an image|a label selector)[^\n]*$/,
      );
    });
  }
});

describe("rekindle uninstall", () => {
  const installed = async (answer: boolean) => {
    const terminal = openTerminal({ answer, crds: false });
    await make(terminal.simulator, ...(await printedManifests("--spark-namespace", "default")));
    return terminal;
  };

  test("lists the objects, removes them, and then finds none", async () => {
    const terminal = await installed(true);
    const { code, out } = await terminal.run("uninstall");
    assert.equal(code, 0);
    assert.match(out, /remove {2}deployments rekindle\/rekindle/);
    assert.match(out, /remove {2}customresourcedefinitions checkpoints\.rekindle\.dev/);
    assert.match(out, /removed 23 objects$/);
    const again = await terminal.run("uninstall", "--yes");
    assert.match(again.out, /nothing of Rekindle is installed here|namespaces rekindle/);
  });

  test("keeps CRDs with objects, and the rights of running drivers, unless --crds is given", async () => {
    const terminal = await installed(true);
    await make(terminal.simulator, application("spark-pi"));
    const { out } = await terminal.run("uninstall", "--yes");
    assert.match(
      out,
      /keep {4}customresourcedefinitions sparkapplications\.sparkoperator\.k8s\.io: there are sparkapplications/,
    );
    assert.match(out, /keep {4}roles default\/rekindle-driver: there are sparkapplications in namespace default/);
    assert.match(out, /remove {2}customresourcedefinitions checkpoints\.rekindle\.dev/);
    const all = await terminal.run("uninstall", "--yes", "--crds");
    assert.match(all.out, /remove {2}customresourcedefinitions sparkapplications/);
  });

  test("removes nothing without a confirmation", async () => {
    const terminal = await installed(false);
    const { code, err } = await terminal.run("uninstall");
    assert.equal(code, 1);
    assert.equal(err, "rekindle: nothing was removed (--yes skips the question)");
    assert.match((await terminal.run("uninstall", "--yes")).out, /removed 23 objects$/);
  });
});
