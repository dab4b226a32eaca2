/** Opens secrets: a text is used as it is, a file or an ARN is read at its first use and again every five minutes. */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { errorText } from "../../core/text.ts";
import type { Report } from "../../engine/ports.ts";
import type { SecretSource } from "../settings/formats.ts";

/** Returns the current text. Rejects with one line that says what to change. */
export type Secret = () => Promise<string>;

/** The longest age of a text in use, ms: every process uses a new one after that time. */
const heldMs = 300_000;
const shortest = 16;

type Opening = {
  /** The setting that names the secret; each error names it first. */
  readonly setting:
    | "admissionPath"
    | "callSecret"
    | "natsCredentials"
    | "oidcClientSecret"
    | "triggerSecret"
    | "updatesSecret";
  readonly report: Report;
  /** Monotonic, ms. */
  readonly now?: () => number;
  /** Reads the secret that AWS stores under an ARN. */
  readonly stored?: (arn: string) => Promise<string>;
};

/** Reads a secret from AWS. The client is loaded only where a secret has an ARN. */
const storedNow = async (arn: string): Promise<string> => {
  const { storedText } = await import("../../adapters/aws/stored-text.ts");
  return await storedText(arn);
};

const fromFile = async (path: string): Promise<string> => {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`${path} cannot be read (${errorText(cause)})`, { cause });
  });
  return text;
};

const longEnough = (place: string, text: string): string => {
  const secret = text.trim();
  if (secret.length >= shortest) return secret;
  throw new Error(`${place}: a secret of at least ${shortest} characters is needed`);
};

const named = (setting: string, read: () => Promise<string>) => async (): Promise<string> =>
  await read().catch((cause: unknown) => {
    throw new Error(`setting ${setting}: ${errorText(cause)}`, { cause });
  });

/** Caches a text. While it cannot be read again, the last one stays in use. */
const reread = (
  place: string,
  read: () => Promise<string>,
  { report, setting, now = () => performance.now() }: Opening,
): Secret => {
  let held: { readonly text: string; readonly at: number } | undefined;
  const readNow = named(setting, async (): Promise<string> => {
    const at = now();
    const text = longEnough(place, await read());
    held = { text, at };
    return text;
  });
  return async () => {
    if (held === undefined) return await readNow();
    if (now() - held.at < heldMs) return held.text;
    const { text } = held;
    return await readNow().catch((cause: unknown) => {
      held = { text, at: now() };
      report("warn", "a secret cannot be read again; the last value stays in use", { place, error: String(cause) });
      return text;
    });
  };
};

/** Opens a secret without reading it. */
export const openSecret = (source: SecretSource, opening: Opening): Secret => {
  if ("text" in source) return async () => source.text;
  if ("file" in source) return reread(source.file, () => fromFile(source.file), opening);
  const { stored = storedNow } = opening;
  return reread(source.arn, () => stored(source.arn), opening);
};

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compares in constant time. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(hashOf(given), hashOf(expected));

/**
 * True if a path begins with one of the secret ones, which have commas between them. It compares with each, so that the time
 * tells neither which one is alike nor how much.
 */
export const isSecretPath = (given: string, paths: string): boolean =>
  paths
    .split(",")
    .map((path) => isSame(given, path.trim()))
    .some(Boolean);

/** Opens the secret of an optional setting. */
export const openOptional = (source: SecretSource | undefined, opening: Opening): Secret | undefined =>
  source === undefined ? undefined : openSecret(source, opening);
