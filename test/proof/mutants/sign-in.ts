/** Mutants of sign-in to the page; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const code = "shared/adapters/oidc-code.ts";
const ofCode = ["test/unit/adapters/oidc-code.test.ts"];
const provider = "shared/deployments/page/provider.ts";
const ofProvider = ["test/unit/deployments/page/provider.test.ts"];

const kube = "shared/deployments/page/kube-token.ts";
const ofKube = ["test/unit/deployments/page/kube-token.test.ts"];

export const signInMutants: readonly Mutant[] = [
  {
    name: "sign-in-without-nonce",
    promise: "an id token signs in only the browser that asked for it",
    file: code,
    find: 'if (payload["nonce"] !== nonce) return',
    replace: 'if (payload["nonce"] === "") return',
    tests: ofCode,
  },
  {
    name: "sign-in-signed-with-the-client-secret",
    promise: "an id token is signed with a key that only the provider has",
    file: code,
    find: 'const algorithms = ["RS256",',
    replace: 'const algorithms = ["HS256", "RS256",',
    tests: ofCode,
  },
  {
    name: "sign-in-twice-by-one-answer",
    promise: "an answer of the provider is taken once",
    file: provider,
    find: "if (spent.has(data.state)) return",
    replace: "if (spent.has(data.nonce)) return",
    tests: ofProvider,
  },
  {
    name: "sign-in-by-a-foreign-answer",
    promise: "an answer is taken from the browser alone that began the sign-in",
    file: provider,
    find: 'if (data.state !== c.req.query("state"))',
    replace: 'if (c.req.query("state") === undefined)',
    tests: ofProvider,
  },
  {
    name: "sign-in-leads-elsewhere",
    promise: "a sign-in leads to the page, and to no other site",
    file: provider,
    find: '(/^\\?[\\w.~%=&:+/-]{0,500}$/.test(text) ? text : "")',
    replace: "text",
    tests: ofProvider,
  },
  {
    name: "signed-out-session-goes-on",
    promise: "a session that was ended opens nothing",
    file: "shared/deployments/page/access.ts",
    find: "data === undefined || ended.has(data.id)",
    replace: "data === undefined",
    tests: ofProvider,
  },
  {
    name: "kube-sign-in-without-logs",
    promise: "a user of Kubernetes reads here only what it may read itself",
    file: kube,
    find: '  { group: "", resource: "pods", verb: "get", subresource: "log" },\n',
    replace: "",
    tests: ofKube,
  },
  {
    name: "kube-sign-in-without-bound",
    promise: "the requests of one sign-in are bounded",
    file: kube,
    find: "if (count >= mostRequests) throw new TooMany();",
    replace: "",
    tests: ofKube,
  },
  {
    name: "kube-sign-in-acts-as-it-reads",
    promise: "a user of Kubernetes changes here only what it may change itself",
    file: kube,
    find: "if (isRead && (await hasAll(requests, who, acting, place))) act.push(place);",
    replace: "if (isRead) act.push(place);",
    tests: ofKube,
  },
];
