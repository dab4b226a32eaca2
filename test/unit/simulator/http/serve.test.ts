/** The simulator over HTTP, as kubectl meets it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { serveSimulator } from "../../../../shared/simulator/http/serve.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { fieldsAt, itemsAt, textAt } from "../../../../shared/simulator/storage/json.ts";
import { sleeper } from "../stand.ts";

const pods = "/api/v1/namespaces/default/pods";

test("pods are created, listed as a table, watched and deleted over HTTP", async () => {
  const served = await serveSimulator(openSimulator(), { speed: 100 });
  const json = async (path: string, init: RequestInit = {}): Promise<unknown> =>
    (await fetch(served.url + path, init)).json();
  try {
    const watch = await fetch(`${served.url}${pods}?watch=true`);
    assert.equal(watch.headers.get("content-type"), "application/json");
    const reader = watch.body?.pipeThrough(new TextDecoderStream()).getReader();
    const made = await json(pods, {
      method: "POST",
      body: JSON.stringify(sleeper("p")),
      headers: { "content-type": "application/json" },
    });
    assert.equal(textAt(made, "metadata", "name"), "p");
    const first = (await reader?.read())?.value ?? "";
    assert.equal(textAt(JSON.parse(first.split("\n")[0] ?? ""), "type"), "ADDED");
    await reader?.cancel();
    const table = await json(pods, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
    });
    assert.deepEqual(itemsAt(itemsAt(table, "rows")[0], "cells").slice(0, 1), ["p"]);
    const gone = await fetch(`${served.url}${pods}/p?gracePeriodSeconds=0`, { method: "DELETE" });
    assert.equal(gone.status, 200);
    assert.equal((await fetch(`${served.url}${pods}/p`)).status, 404);
  } finally {
    await served.close();
  }
});

test("discovery names every kind, custom ones too, and the kubeconfig has the server's address", async () => {
  const crd = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const served = await serveSimulator(openSimulator({ crds: [crd] }));
  const json = async (path: string): Promise<unknown> => (await fetch(served.url + path)).json();
  try {
    const groups = itemsAt(await json("/apis"), "groups").map((group) => textAt(group, "name"));
    assert.ok(groups.includes("example.com") && groups.includes("apps"));
    const [thing] = itemsAt(await json("/apis/example.com/v1"), "resources");
    assert.equal(textAt(thing, "kind"), "Thing");
    const paths = Object.keys(fieldsAt(await json("/openapi/v3"), "paths"));
    assert.ok(paths.includes("apis/example.com/v1") && paths.includes("api/v1"));
    assert.match(served.kubeconfig, new RegExp(served.url));
  } finally {
    await served.close();
  }
});
