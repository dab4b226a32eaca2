/** Argo CD's health checks agree with what `rekindle status` says of each state. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { checks, healthChecks, script } from "../../../infra/argocd.ts";
import { apiVersionOf, type Obj } from "../../../shared/core/object.ts";
import { everyKind } from "../../../shared/inspection/kinds/all.ts";

/** An object in a state. */
const inState = ({ resource, stateAt: state }: (typeof checks)[number], name: string): Obj => {
  const status = state.toReversed().reduce<unknown>((value, field) => ({ [field]: value }), name);
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name: "a", namespace: "default" },
    spec: { schedule: "@daily" },
    ...(state.length === 0 ? {} : Object(status)),
  };
};

describe("the health checks for Argo CD", () => {
  test("cover every kind of the command line", () => {
    const covered = new Set(checks.map(({ resource }) => `${apiVersionOf(resource)} ${resource.kind}`));
    for (const { resource } of everyKind)
      assert.ok(covered.has(`${apiVersionOf(resource)} ${resource.kind}`), resource.kind);
  });

  /** What `rekindle status` says of a state: how it ended, or that a user must correct it. */
  const saidOf = (check: (typeof checks)[number], state: string): string => {
    const kind = everyKind.find(({ resource }) => resource.kind === check.resource.kind);
    const said = kind?.stateOf(inState(check, state));
    if (said?.ended !== undefined) return said.ended;
    return /corrected/.test(said?.what.waitsFor ?? "") ? "badly" : "goes on";
  };

  for (const check of checks) {
    const isListed = everyKind.some(({ resource }) => resource.kind === check.resource.kind);
    test(`of ${check.resource.kind}: Degraded is what has failed, and what has completed is Healthy`, () => {
      for (const [state, { health }] of isListed ? Object.entries(check.states) : []) {
        const said = saidOf(check, state);
        assert.equal(health === "Degraded", said === "badly", state);
        assert.ok(said !== "well" || health === "Healthy", state);
      }
      assert.ok(Object.keys(check.states).length > 0);
    });

    test(`of ${check.resource.kind} is a script whose blocks are closed, with every state`, () => {
      const text = script(check);
      const opened = [...text.matchAll(/\b(function|then|do)\b/g)].length;
      assert.equal([...text.matchAll(/\bend\b/g)].length, opened);
      for (const [state, { health }] of Object.entries(check.states))
        assert.ok(text.includes(`  ["${state}"] = "${health}",`), state);
      assert.match(text, /\nreturn health\n$/);
    });
  }

  test("have the names of keys that Argo CD reads", () => {
    const { data } = parse(healthChecks());
    assert.ok(Object.keys(data).includes("resource.customizations.health.sparkoperator.k8s.io_SparkApplication"));
    assert.ok(Object.keys(data).every((key) => /^resource\.customizations\.health\.[a-z0-9.]+_[A-Za-z]+$/.test(key)));
    assert.equal(Object.keys(data).length, checks.length);
  });
});
