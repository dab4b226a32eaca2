/**
 * The journal of a host, which outlives the process: the decision in flight, in a file of one block that is written in
 * place, and the objects in quarantine. The folder belongs to one host; an emptyDir volume outlives the restarts of its
 * container.
 */
import { mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import type { Decision, Journal, Report, Stop } from "../engine/ports.ts";

const word = z.string().max(1_024);
const decision = z.object({ key: word, namespace: word, version: word });
const stop = z.object({ ...decision.shape, count: z.int().min(0), at: z.int().min(0) });

/** Size of the file, bytes: longer than a key and a version. */
const block = 4_096;

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Reads the decision in flight; undefined if the file cannot be parsed, for example because a death cut it off. */
const diedIn = (path: string): Decision | undefined => decision.safeParse(jsonOf(textOf(path))).data;

const stopsIn = (path: string): readonly Stop[] => z.array(stop).safeParse(jsonOf(textOf(path))).data ?? [];

/** Errors that pass without a change of a setting or right: a full disk, a full quota, a disk that fails. */
const passing: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE"]);

const isPassing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && passing.has(cause.code);

/**
 * Returns a function that tries to write. The first failure of a row is reported, and the process goes on: without its
 * journal it may blame a death on no object.
 */
const openTrying = (folder: string, report: Report): ((write: () => void) => void) => {
  let fails = false;
  return (write) => {
    try {
      write();
      fails = false;
    } catch (cause) {
      if (!isPassing(cause)) throw cause;
      if (!fails)
        report("warn", "cannot write the state directory, going on without it", { folder, error: String(cause) });
      fails = true;
    }
  };
};

/**
 * Opens the journal in a folder, which is created if it is missing. Throws if the folder cannot be written until a
 * setting or a right changes.
 */
export const openJournal = (folder: string, report: Report): Journal => {
  const tried = openTrying(folder, report);
  tried(() => void mkdirSync(folder, { recursive: true }));
  const [inFlight, kept] = [join(folder, "in-flight"), join(folder, "quarantine.json")];
  const died = diedIn(inFlight);
  const stops = stopsIn(kept);
  let file: number | undefined;
  const written = (text: Buffer): void =>
    tried(() => {
      file ??= openSync(inFlight, "w");
      writeSync(file, text, 0, text.length, 0);
    });
  const none = Buffer.from(" ");
  written(none);
  return {
    died,
    stops,
    begin: (one) => written(Buffer.from(JSON.stringify(one).padEnd(block)).subarray(0, block)),
    end: () => written(none),
    save: (all) =>
      tried(() => {
        writeFileSync(`${kept}.new`, JSON.stringify(all));
        renameSync(`${kept}.new`, kept);
      }),
  };
};
