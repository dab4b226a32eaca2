/** `manifests --upgrade` prints an installation again with the image, namespaces and rights that it has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import type { Obj } from "../../../shared/core/object.ts";
import { make, openTerminal } from "./terminal.ts";

const documents = (text: string): readonly Obj[] => parseAllDocuments(text).map((document) => document.toJS());

/** Opens a cluster with the objects that `manifests` prints for these flags, without CRDs. */
const installedBy = async (...flags: readonly string[]) => {
  const terminal = openTerminal();
  const { out, err } = await terminal.run("manifests", ...flags);
  assert.equal(err, "");
  for (const name of ["a", "b", "default"])
    await make(terminal.simulator, { apiVersion: "v1", kind: "Namespace", metadata: { name } }).catch(() => {});
  await make(terminal.simulator, ...documents(out).filter(({ kind }) => kind !== "CustomResourceDefinition"));
  return { terminal, out };
};

describe("rekindle manifests --upgrade", () => {
  const installations: readonly (readonly string[])[] = [
    [],
    ["--namespaces=a,b", "--spark-namespace=a", "--image=images.example/rekindle:7", "--features=ssh"],
    ["--namespace=batch", "--admission", "--nodes", "--family=spark", "--without-crds=sparkoperator.k8s.io"],
    ["--without-crds", "--without-deployment"],
    ["--functions=forward,reconcile", "--features=pod-http", "--nodes"],
  ];
  for (const flags of installations)
    test(`after ${flags.join(" ") || "no flag"} prints the same again`, async () => {
      const { terminal, out } = await installedBy(...flags);
      const again = await terminal.run("manifests", "--upgrade");
      assert.deepEqual([again.code, again.out], [0, out]);
    });

  test("prefers the flags of this call, and keeps them for the next", async () => {
    const { terminal } = await installedBy("--namespaces=a", "--image=images.example/rekindle:7");
    const { out, err } = await terminal.run("manifests", "--upgrade", "--image=images.example/rekindle:8", "--nodes");
    assert.equal(err, "");
    assert.match(out, /image: images\.example\/rekindle:8/);
    assert.match(out, /name: rekindle-nodes/);
    const [kept] = documents(out).filter(({ metadata }) => metadata.name === "rekindle-installation");
    assert.deepEqual(JSON.parse(z.object({ flags: z.string() }).parse(kept?.["data"]).flags), [
      ...["--image=images.example/rekindle:8", "--namespaces=a", "--nodes"],
    ]);
  });

  test("keeps a custom image, and reports that", async () => {
    const { terminal } = await installedBy("--image=images.example/rekindle:7");
    const { err } = await terminal.run("manifests", "--upgrade");
    assert.equal(err, "the image stays images.example/rekindle:7: name a new one with --image");
  });

  test("with --rbac-only or --crds-only prints that part of it alone", async () => {
    const { terminal } = await installedBy("--namespaces=a", "--features=ssh");
    const kinds = async (flag: string): Promise<readonly string[]> => [
      ...new Set(documents((await terminal.run("manifests", "--upgrade", flag)).out).map(({ kind }) => kind)),
    ];
    assert.deepEqual(await kinds("--rbac-only"), ["Namespace", "ServiceAccount", "Role", "RoleBinding"]);
    assert.deepEqual(await kinds("--crds-only"), ["CustomResourceDefinition"]);
  });

  test("fails if no flags are kept", async () => {
    const { code, err } = await openTerminal().run("manifests", "--upgrade");
    assert.equal(code, 1);
    assert.match(err, /has no ConfigMap rekindle-installation .*write these flags, without --upgrade/);
  });

  test("fails after uninstall, which removes the kept flags", async () => {
    const { terminal } = await installedBy();
    await terminal.run("uninstall", "--yes");
    assert.equal((await terminal.run("manifests", "--upgrade")).code, 1);
  });
});
