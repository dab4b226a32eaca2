/** A right that only a feature grants: the message about its absence names the feature. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withFeature } from "../../../shared/kube/resources.ts";
import { errorOf } from "../../../shared/kube/responses.ts";

const refusal = (verb: string, resource: string): string =>
  `${resource.split("/")[0]} "x" is forbidden: User "system:serviceaccount:rekindle:rekindle" cannot ${verb} resource "${resource}" in API group "" in the namespace "default"`;

const rows = [
  { message: refusal("create", "secrets"), feature: "ssh" },
  { message: refusal("get", "pods/proxy"), feature: "pod-http" },
  { message: refusal("list", "nodes"), feature: "gang" },
  { message: refusal("create", "pods/eviction"), feature: "gang-evict" },
  { message: refusal("get", "pods/log"), feature: "logs" },
  { message: JSON.stringify({ kind: "Status", message: refusal("get", "pods/proxy") }), feature: "pod-http" },
];

for (const { message, feature } of rows)
  test(`${message.slice(0, 60)}… names the feature ${feature}`, () =>
    assert.equal(withFeature(message), `rekindle manifests --features ${feature} grants this: ${message}`));

test("any other right is told as the server tells it", () =>
  assert.equal(withFeature(refusal("create", "pods")), refusal("create", "pods")));

test("a right to change nodes is none of a feature", () =>
  assert.equal(withFeature(refusal("patch", "nodes")), refusal("patch", "nodes")));

test("an error of the API server has the feature in it", () => {
  const body = JSON.stringify({ kind: "Status", reason: "Forbidden", message: refusal("create", "secrets") });
  assert.match(errorOf("POST /x", { status: 403, headers: {}, body }).message, /--features ssh grants this/);
});
