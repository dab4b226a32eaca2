/**
 * Identifies callers by a signature, a token, a token of an identity provider, or the ARN that API Gateway has
 * authorized. All secrets are compared, in constant time, so that the time of an answer tells nothing about them.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { verified } from "../core/signature.ts";
import { type Caller, matches, type Oidc } from "./callers.ts";

/** The parts of a request that identify its sender. */
export type Asking = {
  readonly method: string;
  /** Path and query, as the request has them. */
  readonly path: string;
  readonly body: string;
  /** Headers of the request that carry attributes of an event: a signature must cover them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timestamp: string;
  readonly signature: string;
  /** The `Authorization` header; "": none. */
  readonly authorization: string;
  /** ARN that API Gateway has authorized; never taken from a header. */
  readonly arn: string | undefined;
};

/** Returns the caller; undefined where it is unknown or its proof is not valid. */
export type Identify = (asking: Asking) => Promise<Caller | undefined>;

/** Returns the subject of a valid token of this provider for this audience; undefined for any other token. */
export type SubjectOf = (provider: Oidc, token: string) => Promise<string | undefined>;

type Desk = {
  /** Epoch ms. */
  readonly now: () => number;
  readonly subjectOf: SubjectOf;
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const isToken = ({ tokens = [] }: Caller, given: string): boolean =>
  tokens.map((token) => timingSafeEqual(digest(token), digest(given))).includes(true);

const hasSigned = ({ keys = [] }: Caller, asking: Asking, now: number): boolean =>
  keys.map((key) => verified(key, asking, asking.signature, now)).includes(true);

/** Returns whether a token has three parts between dots, as those of identity providers have. */
const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);

const providedFor = async (
  callers: readonly Caller[],
  token: string,
  subjectOf: SubjectOf,
): Promise<Caller | undefined> => {
  for (const caller of callers) {
    const subject = caller.oidc === undefined ? undefined : await subjectOf(caller.oidc, token);
    if (subject !== undefined && matches(caller.oidc?.subject ?? "", subject)) return caller;
  }
  return undefined;
};

/** Opens the identification of these callers. A request with a signature is judged by it alone. */
export const identifier =
  (callers: readonly Caller[], { now, subjectOf }: Desk): Identify =>
  async (asking) => {
    if (asking.signature !== "") return callers.filter((caller) => hasSigned(caller, asking, now())).at(0);
    const [, token = ""] = /^Bearer ([\x21-\x7e]{1,8192})$/i.exec(asking.authorization) ?? [];
    if (token !== "") {
      const known = callers.filter((caller) => isToken(caller, token)).at(0);
      return known ?? (isJwt(token) ? await providedFor(callers, token, subjectOf) : undefined);
    }
    const { arn } = asking;
    return arn === undefined ? undefined : callers.find(({ iam }) => iam !== undefined && matches(iam, arn));
  };
