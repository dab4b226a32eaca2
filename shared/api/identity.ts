/**
 * Who asks: by a signature, a token, a token of an identity provider, or what API Gateway says of whom it let in. Secrets
 * are compared in constant time, all of them each time: how long an answer takes tells nobody which one was nearly right.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { verified } from "../core/signature.ts";
import { type Caller, matches, type Oidc } from "./callers.ts";

/** A request as far as it proves who sent it. */
export type Asking = {
  readonly method: string;
  /** As it was asked for, with what stands behind its question mark. */
  readonly path: string;
  readonly body: string;
  /** Of the headers that say what is asked for, those that are there: a signature must cover them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timestamp: string;
  readonly signature: string;
  /** The `Authorization` header; "": none. */
  readonly authorization: string;
  /** ARN that API Gateway vouches for; never a header's. */
  readonly arn: string | undefined;
};

/** Undefined: nobody we know, or nothing that proves it. */
export type Identify = (asking: Asking) => Promise<Caller | undefined>;

/** The subject of a token that this provider signed for us and that holds now; undefined for any other. */
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

/** Three parts between dots: a token of an identity provider. */
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

/** Tells these callers apart. A request with a signature is judged by that alone. */
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
