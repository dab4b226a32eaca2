/**
 * Checks tokens of identity providers with jose: signature by the provider's published keys, issuer, audience, time.
 */
import type { JWTVerifyGetKey } from "jose";
import * as z from "zod";

type Provider = { readonly issuer: string; readonly audience: string; readonly jwks?: string | undefined };

/** Time limit of a request to a provider, ms. */
const requestMs = 3_000;
/** Seconds by which clocks may differ. */
const skewS = 30;

/** Algorithms with public keys only: Rekindle shares no secret with a provider. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

const discovery = z.looseObject({ issuer: z.string(), jwks_uri: z.url() });

const keysAt = async ({ issuer, jwks }: Provider): Promise<string> => {
  if (jwks !== undefined) return jwks;
  const at = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(at, { signal: AbortSignal.timeout(requestMs), redirect: "error" });
  if (!answer.ok) throw new Error(`${at} answers ${answer.status}`);
  const found = discovery.parse(await answer.json());
  if (found.issuer !== issuer) throw new Error(`${at} speaks for another issuer`);
  return found.jwks_uri;
};

const load = async (provider: Provider): Promise<JWTVerifyGetKey> => {
  const { createRemoteJWKSet } = await import("jose");
  // An unknown key id triggers another request, at most every five seconds, because providers rotate their keys.
  const cachingMs = { timeoutDuration: requestMs, cooldownDuration: 5_000, cacheMaxAge: 600_000 };
  return createRemoteJWKSet(new URL(await keysAt(provider)), cachingMs);
};

const idOf = ({ issuer, jwks = "" }: Provider): string => `${issuer} ${jwks}`;

/** Codes of jose errors that the provider causes, not the token. */
const unheard: ReadonlySet<string> = new Set(["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]);

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";

/** True for an answer that the provider did not give, or gave wrongly; fetch has the network's error as its cause. */
const isProviders = (cause: unknown): boolean =>
  unheard.has(codeOf(cause)) || (cause instanceof TypeError && cause.cause !== undefined);

/** Time for which a failed provider is not asked again, ms, so that foreign tokens cause no requests. */
const keepFailureMs = 10_000;

/**
 * Returns the check of a token, which resolves with its subject; undefined if the token is invalid. Keeps the keys of
 * each provider. `told` is called with the errors of providers, and never with tokens.
 */
export const openSubjects = (
  onError: (issuer: string, cause: unknown) => void,
  now: () => number = () => performance.now(),
) => {
  const failed = new Map<string, number>();
  const keys = new Map<string, Promise<JWTVerifyGetKey>>();
  const keysOf = (provider: Provider): Promise<JWTVerifyGetKey> => {
    const id = idOf(provider);
    const known = keys.get(id) ?? load(provider);
    keys.set(id, known);
    known.catch(() => keys.delete(id));
    return known;
  };
  return async (provider: Provider, token: string): Promise<string | undefined> => {
    if ((failed.get(idOf(provider)) ?? 0) > now()) return undefined;
    const { jwtVerify } = await import("jose");
    const { issuer, audience } = provider;
    const fails = (cause: unknown): undefined => {
      failed.set(idOf(provider), now() + keepFailureMs);
      onError(issuer, cause);
    };
    const found = await keysOf(provider).catch(fails);
    if (found === undefined) return undefined;
    try {
      const rules = { issuer, audience, algorithms, clockTolerance: skewS, requiredClaims: ["exp", "sub"] };
      // The token's author chooses its claims, and which of the provider's keys is tried.
      const { sub }: { readonly sub?: unknown } = (await jwtVerify(token, found, rules)).payload;
      return typeof sub === "string" ? sub : undefined;
    } catch (cause) {
      return isProviders(cause) ? fails(cause) : undefined;
    }
  };
};
