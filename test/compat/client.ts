/** The real `spark-submit` against our client: the same call must make the same objects, or be refused alike. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { build } from "../../shared/spark/submission/client.ts";
import { identityOf } from "../../shared/spark/submission/identity.ts";
import { assembled } from "../../shared/spark/submission/pods/pod.ts";
import { prepare } from "../../shared/spark/submission/prepare.ts";
import type { Input } from "./call.ts";
import { callOf, inputSchema } from "./call.ts";
import type { Difference, Json } from "./compare.ts";
import { differences } from "./compare.ts";
import { normal } from "./normal.ts";
import type { Outcome } from "./outcome.ts";
import { outcomeOf } from "./outcome.ts";

const requests = z.array(z.looseObject({ method: z.string(), path: z.string(), body: z.looseObject({}).optional() }));

type Made = { readonly objects: readonly Json[] } | { readonly refused: string };

/** In the real client's order, without its watch: what it makes first it applies once more when the pod is there. */
const made = (input: Input): Made => {
  const { line, ...call } = callOf(input);
  const prepared = prepare(line);
  if ("refused" in prepared) return prepared;
  const { conf, program } = prepared;
  const identity = identityOf(line.name, "compat");
  const built = build({ conf, program, sparkVersion: input.sparkVersion, identity, ...call });
  if ("refused" in built) return built;
  const pod = { apiVersion: "v1", kind: "Pod", ...assembled(built.pod) };
  return { objects: [...built.first, pod, ...built.first, ...built.objects] };
};

/** The last words of the exception that the real client died of. */
const saidBy = ({ errors }: Input): string => {
  const last = errors.findLast((line) => line.startsWith("Exception")) ?? errors.at(-1) ?? "";
  return last.replace(/^Exception in thread "main" /, "").replace(/^[\w.$]+: (requirement failed: )?/, "");
};

/** Told for the same reason: about the same conf, or in words of which most, or several, are the same. */
const meansTheSame = (refused: string, theirs: string): boolean => {
  const words = new Set(theirs.toLowerCase().match(/[a-z.-]{4,}/g) ?? []);
  const shared = [...words].filter((word) => refused.toLowerCase().includes(word.replace(/[.-]+$/, "")));
  return shared.some((word) => /\w\.\w+\.\w/.test(word)) || shared.length >= Math.min(2, words.size);
};

const refusedAlike = (input: Input, refused: string): readonly Difference[] => {
  const theirs = saidBy(input);
  if (input.exitCode === 0) return [{ path: "refused", ours: refused, theirs: "accepted" }];
  if (refused.includes(theirs)) return [];
  return [{ path: meansTheSame(refused, theirs) ? "words" : "reason", ours: refused, theirs }];
};

const labelOf = (object: Json | undefined): string => {
  const metadata = object?.["metadata"];
  return object === undefined ? "nothing" : `${object["kind"]} ${z.looseObject({}).parse(metadata)["name"]}`;
};

const compared = (input: Input, objects: readonly Json[], recorded: readonly Json[]): readonly Difference[] => {
  if (input.exitCode !== 0 && recorded.length === 0) {
    return [{ path: "refused", ours: "accepted", theirs: saidBy(input) }];
  }
  const length = Math.max(objects.length, recorded.length);
  return Array.from({ length }).flatMap((_, at) =>
    differences(objects[at], recorded[at], labelOf(recorded[at] ?? objects[at])),
  );
};

/** Recordings leave out the moment of submission; ours is there to be left out. */
const withoutMoment = (object: Json): Json => {
  const data = z.looseObject({ "spark.properties": z.looseObject({}) }).safeParse(object["data"]);
  if (!data.success) return object;
  const { "spark.app.submitTime": _moment, ...properties } = data.data["spark.properties"];
  return { ...object, data: { ...data.data, "spark.properties": properties } };
};

/** Of the requests of a call, the objects that it made. */
const recordedIn = (file: string): readonly Json[] => {
  const parsed = requests.safeParse(JSON.parse(readFileSync(file, "utf8")));
  const all = parsed.success ? parsed.data : [];
  return all.flatMap(({ body, method }) => (body === undefined || method === "DELETE" ? [] : [normal(body)]));
};

export const clientOutcome = (name: string, folder: string): Outcome => {
  const input = inputSchema.parse(JSON.parse(readFileSync(join(folder, "input.json"), "utf8")));
  const result = made(input);
  if ("refused" in result) return outcomeOf(name, "client", refusedAlike(input, result.refused));
  const objects = result.objects.map((object) => withoutMoment(normal(object)));
  return outcomeOf(name, "client", compared(input, objects, recordedIn(join(folder, "normalized.json"))));
};
