/**
 * Stand-ins for software that this machine lacks: a table from outside; the first row that matches a container applies.
 */
import { readFileSync } from "node:fs";
import * as z from "zod";
import { type Image, plain } from "./images.ts";

const expression = z.string().transform((text) => new RegExp(text));

const row = z.object({
  /** Matches NAMESPACE/NAME of the pod. */
  pod: expression.optional(),
  image: expression,
  /** Matches command and arguments, joined by spaces; "" for a container without both. */
  command: expression.optional(),
  /**
   * "command": the container's own command, with this machine's programs. Otherwise the time until it starts, the time
   * that it runs (absent: without end), and its exit code.
   */
  runs: z.union([
    z.literal("command"),
    z.object({ startMs: z.number(), runMs: z.number().optional(), exitCode: z.number().default(0) }),
  ]),
});

export type StandIn = z.infer<typeof row>;
/** A row as it is written in the file. */
export type StandInRow = z.input<typeof row>;

export const readStandIns = (file: string): readonly StandIn[] =>
  z.array(row).parse(JSON.parse(readFileSync(file, "utf8")));

/** The properties of a container that select its row. */
export type Known = { readonly pod: string; readonly image: string; readonly command: readonly string[] };

const imageFor = ({ runs }: StandIn): Image => {
  if (runs === "command") return { ...plain, id: "host/sh", command: [] };
  const work = runs.runMs === undefined ? "sleep infinity" : `sleep ${runs.runMs / 1_000}`;
  return { ...plain, id: "stand-in", command: [], instead: ["/bin/sh", "-c", `${work}; exit ${runs.exitCode}`] };
};

/** Returns the stand-in of a container, and the time that its image takes to start. */
export const standInFor = (
  table: readonly StandIn[],
  { pod, image, command }: Known,
): { readonly image: Image; readonly startMs: number } | undefined => {
  const words = command.join(" ");
  const found = table.find(
    (one) => (one.pod?.test(pod) ?? true) && one.image.test(image) && (one.command?.test(words) ?? true),
  );
  if (found === undefined) return undefined;
  return { image: imageFor(found), startMs: found.runs === "command" ? 0 : found.runs.startMs };
};
