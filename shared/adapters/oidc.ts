/** Tokens of identity providers, checked by jose: signature by the provider's published keys, issuer, audience, time. */
import type { JWTVerifyGetKey } from "jose";
import * as z from "zod";

type Provider = { readonly issuer: string; readonly audience: string; readonly jwks?: string | undefined };

/** A provider that does not answer holds a request up no longer. */
const patienceMs = 3_000;
/** Clocks may differ by so many seconds. */
const skewS = 30;

/** Only what a public key checks: a provider's key is never a secret of ours. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

const discovery = z.looseObject({ issuer: z.string(), jwks_uri: z.url() });

const keysAt = async ({ issuer, jwks }: Provider): Promise<string> => {
  if (jwks !== undefined) return jwks;
  const at = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(at, { signal: AbortSignal.timeout(patienceMs), redirect: "error" });
  if (!answer.ok) throw new Error(`${at} answers ${answer.status}`);
  const found = discovery.parse(await answer.json());
  if (found.issuer !== issuer) throw new Error(`${at} speaks for another issuer`);
  return found.jwks_uri;
};

const load = async (provider: Provider): Promise<JWTVerifyGetKey> => {
  const { createRemoteJWKSet } = await import("jose");
  // A key that is not known yet is asked for once more, at most every five seconds: that is how providers rotate them.
  const patience = { timeoutDuration: patienceMs, cooldownDuration: 5_000, cacheMaxAge: 600_000 };
  return createRemoteJWKSet(new URL(await keysAt(provider)), patience);
};

const idOf = ({ issuer, jwks = "" }: Provider): string => `${issuer} ${jwks}`;

/** What jose says when a provider, and not a token, is at fault. */
const unheard: ReadonlySet<string> = new Set(["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]);

/** A provider that failed is asked again after so long: until then a stranger's token costs no request, ms. */
const keepFailureMs = 10_000;

/** Keeps each provider's keys. `told` hears why a provider could not be asked, and nothing of tokens. */
export const openSubjects = (
  told: (issuer: string, cause: unknown) => void,
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
    const { errors, jwtVerify } = await import("jose");
    const { issuer, audience } = provider;
    try {
      const rules = { issuer, audience, algorithms, clockTolerance: skewS, requiredClaims: ["exp", "sub"] };
      return (await jwtVerify(token, await keysOf(provider), rules)).payload.sub;
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError) || unheard.has(cause.code)) {
        failed.set(idOf(provider), now() + keepFailureMs);
        told(issuer, cause);
      }
      return undefined;
    }
  };
};
