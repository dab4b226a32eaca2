/** Credentials for an API server: a fixed token, one that is fetched and renewed, or a certificate. */
import { ApiError } from "../../core/errors.ts";

export type Auth =
  | { readonly token: string }
  /**
   * The provider is called when there is no token, when it is old (10 minutes), and once when the server answers 401.
   */
  | { readonly tokenProvider: () => Promise<string>; readonly tokenAgeMs?: number }
  /** PEM texts. */
  | { readonly cert: string; readonly key: string };

export type Credentials = {
  /** True if another token can be fetched after a 401. */
  readonly renews: boolean;
  token(timeoutMs: number): string | undefined | Promise<string>;
  /** Returns a token other than the one that was refused. */
  renewed(refused: string | undefined, timeoutMs: number): string | undefined | Promise<string>;
};

const refusal = (cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const message = `no credentials: ${cause instanceof Error ? cause.message : String(cause)}`;
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

/** Keeps a token until its age limit, and fetches a new one once for all requests that wait for it. */
const fetched = (provider: () => Promise<string>, ageMs: number): Credentials => {
  let held: { readonly token: string; readonly until: number } | undefined;
  let fetching: Promise<string> | undefined;
  const fetchOnce = async (): Promise<string> => {
    try {
      const token = await provider();
      held = { token, until: performance.now() + ageMs };
      return token;
    } catch (cause) {
      throw refusal(cause);
    } finally {
      fetching = undefined;
    }
  };
  const fetchWithin = (timeoutMs: number): Promise<string> => {
    fetching ??= Promise.resolve().then(fetchOnce);
    return withDeadline(fetching, timeoutMs);
  };
  return {
    renews: true,
    token: (timeoutMs) => (held !== undefined && performance.now() < held.until ? held.token : fetchWithin(timeoutMs)),
    // Requests in flight are refused together: the first fetches a new token, the others use it.
    renewed: (refused, timeoutMs) =>
      held !== undefined && held.token !== refused ? held.token : fetchWithin(timeoutMs),
  };
};

/** Returns the credentials for requests; a certificate belongs to the connection instead. */
export const credentials = (auth: Auth | undefined): Credentials => {
  if (auth !== undefined && "tokenProvider" in auth) return fetched(auth.tokenProvider, auth.tokenAgeMs ?? 600_000);
  const token = auth !== undefined && "token" in auth ? auth.token : undefined;
  return { renews: false, token: () => token, renewed: () => token };
};
