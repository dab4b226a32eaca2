/** Rights that only a flag grants: those of features, and those on nodes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { printedManifests } from "./printed-manifests.ts";
import { openTerminal } from "./terminal.ts";

describe("rights that a flag of rekindle manifests grants", () => {
  test("a feature is a role of its own, everywhere or in the namespaces in scope", async () => {
    const rolesOf = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await printedManifests("--rbac-only", ...args))
        .filter(({ kind, metadata }) => /Role$/.test(kind) && /ssh|pod-http/.test(metadata.name))
        .map(
          ({ kind, metadata, rules }) =>
            `${kind} ${metadata.namespace ?? ""}/${metadata.name} ${JSON.stringify(rules)}`,
        );
    const secrets = '[{"apiGroups":[""],"resources":["secrets"],"verbs":["get","create","delete"]}]';
    const proxy = '[{"apiGroups":[""],"resources":["pods/proxy"],"verbs":["get"]}]';
    assert.deepEqual(await rolesOf("--features=ssh,pod-http"), [
      `ClusterRole /rekindle-ssh ${secrets}`,
      `ClusterRole /rekindle-pod-http ${proxy}`,
    ]);
    assert.deepEqual(await rolesOf("--features=ssh", "--namespaces=a,b"), [
      `Role a/rekindle-ssh ${secrets}`,
      `Role b/rekindle-ssh ${secrets}`,
    ]);
  });

  test("the step's function has the rights of features, and no other function has", async () => {
    const holders = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await printedManifests("--functions", ...args))
        .filter(({ rules }) => /secrets|pods\/proxy/.test(JSON.stringify(rules ?? "")))
        .map(({ metadata }) => metadata.name);
    assert.deepEqual([await holders(), await holders("--features=ssh,pod-http")], [[], ["rekindle-reconcile"]]);
  });

  test("logs are read by the page: the api function and a dispatcher have the right, and a step has not", async () => {
    const holders = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await printedManifests(...args))
        .filter(({ rules }) => /pods\/log/.test(JSON.stringify(rules ?? "")))
        .map(({ metadata }) => metadata.name);
    assert.deepEqual(await holders("--functions"), []);
    assert.deepEqual(await holders("--functions", "--features=logs"), ["rekindle-dispatch", "rekindle-api"]);
    assert.deepEqual(await holders("--functions=dispatch,reconcile", "--features=logs"), ["rekindle-dispatch"]);
    assert.deepEqual(await holders("--rbac-only", "--features=logs"), ["rekindle-logs"]);
  });

  test("logs are kept by steps: the host and the function of steps have the right, and no other function has", async () => {
    const holders = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await printedManifests(...args))
        .filter(({ rules }) => /pods\/log/.test(JSON.stringify(rules ?? "")))
        .map(({ metadata }) => metadata.name);
    assert.deepEqual(await holders("--functions", "--features=kept-logs"), ["rekindle-reconcile"]);
    assert.deepEqual(await holders("--rbac-only", "--features=kept-logs"), ["rekindle-kept-logs"]);
  });

  test("an unknown feature, or one of a family that does not run, is refused", async () => {
    const said = async (...args: readonly string[]): Promise<string> =>
      (await openTerminal().run("manifests", ...args)).err;
    assert.match(await said("--features=everything"), /--features "everything": write ssh or pod-http/);
    assert.match(await said("--features=ssh", "--family=spark"), /--features ssh: no kind of --family spark needs it/);
  });

  test("features of groups are refused for named namespaces, of the host and of functions: no step takes queues there", async () => {
    for (const feature of ["gang", "gang-evict", "gang-native"])
      for (const more of [[], ["--functions"]]) {
        const args = ["manifests", `--features=${feature}`, "--namespaces=a", ...more];
        const { code, err } = await openTerminal().run(...args);
        assert.equal(code, 1, args.join(" "));
        assert.match(err, /groups are admitted in all namespaces together/);
      }
    assert.ok((await printedManifests("--features=gang", "--namespaces=a", "--namespace-selector=b=c")).length > 0);
  });

  test("--nodes lets the function that takes notices read and cordon nodes, and no other function", async () => {
    const withNodes = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await printedManifests("--functions", ...args))
        .filter(
          ({ kind, ...object }) =>
            kind === "ClusterRole" && /"nodes"\],"verbs":\["list","patch"/.test(JSON.stringify(object)),
        )
        .map(({ metadata }) => metadata.name);
    assert.deepEqual([await withNodes(), await withNodes("--nodes")], [[], ["rekindle-reconcile"]]);
  });
});
