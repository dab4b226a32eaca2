/**
 * The journal of a host, which outlives the process: the decision in flight, in a file of one block that is written in
 * place, and the objects in quarantine. The folder belongs to one host; an emptyDir volume outlives the restarts of its
 * container.
 */
import { mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { jsonOf } from "../core/json.ts";
import type { Decision, Journal, Stop } from "../engine/ports.ts";

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

/** Opens the journal in a folder, which is created if it is missing. Throws if the folder cannot be written. */
export const openJournal = (folder: string): Journal => {
  mkdirSync(folder, { recursive: true });
  const [inFlight, kept] = [join(folder, "in-flight"), join(folder, "quarantine.json")];
  const died = diedIn(inFlight);
  const stops = stopsIn(kept);
  const file = openSync(inFlight, "w");
  const none = Buffer.from(" ");
  return {
    died,
    stops,
    begin: (one) => void writeSync(file, Buffer.from(JSON.stringify(one).padEnd(block)), 0, block, 0),
    end: () => void writeSync(file, none, 0, 1, 0),
    save: (all) => {
      writeFileSync(`${kept}.new`, JSON.stringify(all));
      renameSync(`${kept}.new`, kept);
    },
  };
};
