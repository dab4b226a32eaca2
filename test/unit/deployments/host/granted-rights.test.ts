/** A host without its rights says what to change before it begins; one with all rights says nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Transport } from "../../../../shared/core/http.ts";
import { findLacking } from "../../../../shared/deployments/host/preconditions.ts";
import { hostRules } from "../../../../shared/installation/roles.ts";
import type { Rule } from "../../../../shared/installation/rule.ts";

/** Returns a server that answers each request with the next of these; the last one repeats. */
const server = (...answers: readonly object[]) => {
  let asked = 0;
  const transport: Transport = {
    send: async () => {
      const status = answers[Math.min(asked++, answers.length - 1)];
      return { status: 201, headers: {}, body: JSON.stringify({ status }) };
    },
    stream: () => Promise.reject(new Error("nobody streams here")),
  };
  return { transport, namespaces: [], elsewhere: false, asked: () => asked };
};

const instantly = async (): Promise<void> => {};

const given = (rules: readonly Rule[], more = {}) => ({ resourceRules: rules, nonResourceRules: [], ...more });

const without = (...resources: readonly string[]): readonly Rule[] =>
  hostRules.map((rule) => ({ ...rule, resources: rule.resources.filter((one) => !resources.includes(one)) }));

const everything: Rule = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };

const rows: readonly (readonly [name: string, answer: object, line: RegExp | undefined, fatal: boolean])[] = [
  ["are complete with the shipped role", given(hostRules), undefined, false],
  ["are complete for an administrator", given([everything]), undefined, false],
  [
    "are insufficient without pods, so that the host does not start",
    given(without("pods")),
    /^this account may not get pods, list pods, watch pods and 3 more in namespace default: grant it what rekindle manifests --rbac-only prints$/,
    true,
  ],
  [
    "are reported without a rarely needed one, and the host starts",
    given(without("ingresses")),
    /^this account may not get ingresses\./,
    false,
  ],
  ["are insufficient if they name one object only", given([{ ...everything, resourceNames: ["x"] }]), /may not/, true],
  ["count as complete if the authorizer cannot list them", given([], { incomplete: true }), undefined, false],
];

describe("the rights of a host's account", () => {
  for (const [name, answer, line, fatal] of rows) {
    test(name, async () => {
      const found = await findLacking(server(answer), instantly);
      assert.equal(found.fatal, fatal);
      assert.match(found.line ?? "", line ?? /^$/);
    });
  }

  test("are read again until a role that was just applied counts", async () => {
    const asked = server(given([]), given([]), given(hostRules));
    assert.deepEqual(await findLacking(asked, instantly), { line: undefined, fatal: false });
    assert.equal(asked.asked(), 3);
  });

  test("need none for records that are stored elsewhere", async () => {
    const asked = { ...server(given(without("checkpoints"))), elsewhere: true };
    assert.deepEqual(await findLacking(asked, instantly), { line: undefined, fatal: false });
  });

  test("count as complete if the server does not serve the review", async () => {
    const transport: Transport = {
      send: async () => ({ status: 404, headers: {}, body: "" }),
      stream: () => Promise.reject(new Error("nobody streams here")),
    };
    const asked = { transport, namespaces: ["a"], elsewhere: false };
    assert.deepEqual(await findLacking(asked, instantly), { line: undefined, fatal: false });
  });
});
