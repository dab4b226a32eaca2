/**
 * A real provider of OpenID Connect (oidc-provider) on 127.0.0.1, with one client. A user signs in under any name; the
 * groups of its id token are looked up here.
 */
import { createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { listening } from "./port.ts";

export const client = { id: "rekindle-page", secret: "a-client-secret-of-the-tests" } as const;

export type IdentityProvider = {
  readonly issuer: string;
  /** `METHOD PATH` of every request so far. */
  readonly requests: readonly string[];
  close(): Promise<void>;
};

type Users = Readonly<Record<string, readonly string[]>>;

/** Opens it. `users`: groups by the user's name. `pageUrl`: the page to which it sends users back. */
export const openIdentityProvider = async (pageUrl: string, users: Users): Promise<IdentityProvider> => {
  const requests: string[] = [];
  let handle: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, answer) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    void handle?.(request, answer);
  });
  const issuer = `http://127.0.0.1:${await listening(server)}`;
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: client.id, client_secret: client.secret, id_token_signed_response_alg: "ES256" },
        ...{ redirect_uris: [`${pageUrl}/callback`], post_logout_redirect_uris: [pageUrl] },
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "k1", alg: "ES256", use: "sig" }] },
    cookies: { keys: ["a-key-of-the-tests"] },
    claims: { openid: ["sub", "groups"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: [...(users[id] ?? [])] }),
    }),
  });
  handle = provider.callback();
  return {
    ...{ issuer, requests },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** A browser's cookies. */
type Jar = Map<string, string>;

/** Returns a cookie header for a jar. */
const cookiesOf = (jar: Jar): string => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");

/**
 * Signs a user in at the provider as a browser does: fills in its forms and follows its redirects. Returns the address
 * to which it is sent back.
 */
export const signedInAt = async (authorization: string, user: string): Promise<string> => {
  const jar: Jar = new Map();
  const form = (prompt: string): RequestInit => ({
    method: "POST",
    body: new URLSearchParams({ prompt, login: user, password: "any" }),
  });
  let url = authorization;
  let init: RequestInit = {};
  for (let hops = 0; hops < 12; hops += 1) {
    const headers = { cookie: cookiesOf(jar) };
    const answer = await fetch(url, { ...init, redirect: "manual", headers });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    const to = answer.headers.get("location");
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(await answer.text()) ?? [];
    if (to === null && prompt === undefined) throw new Error(`${url} answers ${answer.status}`);
    init = to === null ? form(prompt ?? "") : {};
    url = to === null ? url : new URL(to, url).href;
    if (new URL(url).pathname.endsWith("/callback")) return url;
  }
  throw new Error("the provider sends the user in circles");
};
