/**
 * Copies objects within the etcd of a test's cluster, as many times as a benchmark wants. The API server would take
 * minutes to create a hundred thousand; here a hundred copies are one request. Custom resources are JSON there.
 */
import { readFileSync } from "node:fs";
import * as z from "zod";
import { each } from "../support/parallel.ts";

const pairs = z.object({ kvs: z.array(z.object({ key: z.string(), value: z.string() })).default([]) });

const encoded = (text: string): string => Buffer.from(text).toString("base64");
const decoded = (text: string): string => Buffer.from(text, "base64").toString();

/** Returns the URL that an etcd process listens at, from its command line. */
export const urlOfEtcd = (pid: number): string => {
  const flags = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const url = flags.find((flag) => flag.startsWith("--listen-client-url="))?.split("=")[1];
  if (url === undefined) throw new Error(`process ${pid} has no --listen-client-url`);
  return url;
};

const call = async (url: string, what: string, body: object): Promise<unknown> => {
  const answer = await fetch(`${url}/v3/kv/${what}`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd ${what}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
};

/** A key of etcd and its value. */
export type Pair = { readonly key: string; readonly value: string };

/** Returns what is stored under a key. */
export const stored = async (url: string, key: string): Promise<Pair> => {
  const { kvs } = pairs.parse(await call(url, "range", { key: encoded(key) }));
  const [found] = kvs;
  if (found === undefined) throw new Error(`etcd has no ${key}`);
  return { key, value: decoded(found.value) };
};

const perRequest = 100;

/** Stores `count` copies; `copyOf` returns the pairs of one. */
export const copied = async (url: string, count: number, copyOf: (index: number) => readonly Pair[]): Promise<void> => {
  const starts = Array.from({ length: Math.ceil(count / perRequest) }, (_, at) => at * perRequest);
  const store = async (start: number): Promise<void> => {
    const size = Math.min(perRequest, count - start);
    const kept = Array.from({ length: size }, (_, at) => copyOf(start + at)).flat();
    // etcd takes at most 128 operations at once.
    for (let at = 0; at < kept.length; at += perRequest)
      await call(url, "txn", {
        success: kept
          .slice(at, at + perRequest)
          .map(({ key, value }) => ({ requestPut: { key: encoded(key), value: encoded(value) } })),
      });
  };
  await each(starts, store, 4);
};
