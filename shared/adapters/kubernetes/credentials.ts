/** Credentials of requests to an API server: fixed ones, or of a provider, fetched once for all requests that wait. */
import { ApiError } from "../../core/http.ts";
import { errorText } from "../../core/text.ts";

/** What a request is sent with: a token, or a client certificate with its key, or both. The last two are PEM texts. */
export type Credential = {
  readonly token?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Epoch ms; absent: it has none. */
  readonly expiresAt?: number | undefined;
};

/** Returns a credential. `isRefused`: the server has answered 401 to the last one. */
export type CredentialProvider = (isRefused: boolean) => Promise<Credential>;

/**
 * A credential, or its provider, which is called when there is none, when it is old (10 minutes) or has expired, and
 * once when the server answers 401.
 */
export type Auth = Credential | { readonly provider: CredentialProvider; readonly ageMs?: number };

/** The credentials of a transport. */
export type Login = {
  current(timeoutMs: number): Credential | Promise<Credential>;
  /** Returns the credential after the one that was refused, which is the same one if there is no other. */
  renewed(refused: Credential, timeoutMs: number): Credential | Promise<Credential>;
};

const refusal = (cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const message = `no credentials: ${errorText(cause)}`;
  return new ApiError({ status: 401, reason: "Unauthorized", message, cause });
};

const withDeadline = async <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `no credentials within ${timeoutMs} ms`;
    timer = setTimeout(() => reject(new ApiError({ status: 0, reason: "Timeout", message })), timeoutMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** The least time between two calls of a provider whose credentials have expired when it returns them, ms. */
const shortestAgeMs = 1_000;

/** Keeps a credential until its end, and fetches a new one once for all requests that wait for it. */
const fetched = (provider: CredentialProvider, ageMs: number): Login => {
  let held: { readonly credential: Credential; readonly until: number } | undefined;
  let fetching: Promise<Credential> | undefined;
  const fetchOnce = async (isRefused: boolean): Promise<Credential> => {
    try {
      const credential = await provider(isRefused);
      const leftMs = Math.min(ageMs, (credential.expiresAt ?? Number.POSITIVE_INFINITY) - Date.now());
      held = { credential, until: performance.now() + Math.max(shortestAgeMs, leftMs) };
      return credential;
    } catch (cause) {
      throw refusal(cause);
    } finally {
      fetching = undefined;
    }
  };
  const fetchWithin = (timeoutMs: number, isRefused = false): Promise<Credential> => {
    fetching ??= Promise.resolve().then(() => fetchOnce(isRefused));
    return withDeadline(fetching, timeoutMs);
  };
  return {
    current: (timeoutMs) =>
      held !== undefined && performance.now() < held.until ? held.credential : fetchWithin(timeoutMs),
    // Requests in flight are refused together: the first fetches a new credential, the others use it.
    renewed: (refused, timeoutMs) =>
      held !== undefined && held.credential !== refused ? held.credential : fetchWithin(timeoutMs, true),
  };
};

export const loginOf = (auth: Auth = {}): Login =>
  "provider" in auth ? fetched(auth.provider, auth.ageMs ?? 600_000) : { current: () => auth, renewed: () => auth };
