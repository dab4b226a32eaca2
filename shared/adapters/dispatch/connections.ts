/** The dispatcher's connections to functions and its tokens: keep-alive, a client certificate, the platform's tokens. */
import { readFile } from "node:fs/promises";
import { Agent as PlainAgent } from "node:http";
import { Agent as SecureAgent } from "node:https";

export type Agents = { readonly plain: PlainAgent; readonly secure: SecureAgent; readonly close: () => void };

/** Paths of PEM files; each is absent where it is not set. */
export type CertificateFiles = { readonly cert?: string | undefined; readonly key?: string | undefined };

const read = async (path: string | undefined): Promise<Buffer | undefined> =>
  path === undefined ? undefined : await readFile(path);

/** Opens the connections, with a client certificate if one is set; at most `maxSockets` at once. */
export const openAgents = async (files: CertificateFiles, maxSockets: number): Promise<Agents> => {
  const [cert, key] = await Promise.all([read(files.cert), read(files.key)]);
  const identity = cert === undefined || key === undefined ? {} : { cert, key };
  const usual = { keepAlive: true, maxSockets };
  const plain = new PlainAgent(usual);
  const secure = new SecureAgent({ ...usual, ...identity });
  return {
    plain,
    secure,
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
};

/** The age after which a token is asked for again, ms: a metadata server renews them well before they end. */
const heldMs = 60_000;
const timeLimitMs = 3_000;

const fromServer = async (server: string, audience: string): Promise<string> => {
  const url = new URL(server);
  url.searchParams.set("audience", audience);
  // The header without which Google's metadata server refuses; others ignore it.
  const headers = { "metadata-flavor": "Google" };
  const answer = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(timeLimitMs) });
  if (!answer.ok) throw new Error(`${url.host} answered ${answer.status} instead of a token`);
  return await answer.text();
};

/** Opens the platform's tokens: a metadata server is asked for one for the origin of the URL that is called. */
export const openTokens = (now: () => number = () => performance.now()) => {
  const held = new Map<string, { readonly token: string; readonly at: number }>();
  return async (server: string, url: string): Promise<string> => {
    const { origin: audience } = new URL(url);
    const known = held.get(audience);
    if (known !== undefined && now() - known.at < heldMs) return known.token;
    const token = (await fromServer(server, audience)).trim();
    if (!/^[\x21-\x7e]{1,8192}$/.test(token)) throw new Error("the metadata server gave no token");
    held.set(audience, { token, at: now() });
    return token;
  };
};
