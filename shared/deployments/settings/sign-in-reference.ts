/** The documentation of the settings by which people sign in to the page. */
import type { Reference } from "./absence.ts";

export const signInReference = {
  pageUrl: {
    form: "text",
    text: "address of the page in a browser, such as https://rekindle.example.com/page; an identity provider sends users back to it",
  },
  pageKubeTokens: {
    form: "switch",
    text: "people sign in to the page with a token of Kubernetes, which the API server reviews; `rekindle manifests --features kube-sign-in` grants the rights for it",
  },
  oidcIssuer: {
    form: "text",
    text: "issuer of the identity provider by which people sign in to the page; empty: callers alone do",
  },
  oidcClientId: { form: "text", text: "client id of the page at the identity provider" },
  oidcClientSecret: {
    form: "secret",
    text: "client secret of the page at the identity provider",
    parameter: "PageClientSecret",
  },
  oidcScopes: {
    form: "list",
    text: "scopes that the page asks the identity provider for; some providers send groups only with one of their own, often `groups`",
  },
  oidcGroupsClaim: { form: "text", text: "claim of the id token that lists the user's groups" },
  oidcGroups: {
    form: "JSON",
    text: 'JSON: what groups of the identity provider may do on the page: {"data-team": {"may": ["read", "act"], "namespaces": ["team-a"]}, "*": {"may": ["read"]}}; without namespaces: in all; *: everybody who signs in',
  },
} as const satisfies Readonly<Record<string, Reference>>;
