/** A file that the pods of a workload mount from one of their ConfigMaps, under its own name; and Java's properties in one. */
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { ApiError } from "../../core/http.ts";
import { isRecord } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Session } from "../../inspection/io/session.ts";
import { configMaps } from "../../kube/resources.ts";

const podTemplate = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        volumes: z.array(z.looseObject({ configMap: z.looseObject({ name: z.string() }).optional() })).default([]),
      }),
    }),
  }),
});

export type MountedFile =
  | { readonly text: string; readonly where: string }
  /** Why it cannot be read. */
  | { readonly unread: string };

/** Reads a file of a workload's ConfigMaps. */
export const mountedFile = async (
  session: Session,
  { namespace, object }: { readonly namespace: string; readonly object: Stored },
  file: string,
): Promise<MountedFile> => {
  const volumes = podTemplate.safeParse(object).data?.spec.template.spec.volumes ?? [];
  const names = volumes.flatMap(({ configMap }) => (configMap === undefined ? [] : [configMap.name]));
  try {
    for (const name of names) {
      const field = `metadata.name=${name}`;
      const query = { do: "list", resource: configMaps, namespace, labels: {}, field } as const;
      const data = (await openCluster(session.transport).list(query)).value[0]?.["data"];
      const text = isRecord(data) ? data[file] : undefined;
      if (typeof text === "string") return { text, where: `ConfigMap ${namespace}/${name}` };
    }
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return { unread: cause.message };
  }
  return { unread: "no ConfigMap of its pods holds it" };
};

/** The properties of a text by their names; of two with one name the last counts, as in Java. */
export const propertiesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .replaceAll(/\\\r?\n[ \t]*/g, "")
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== "" && !/^[#!]/.test(line))
      .map((line) => {
        const end = line.search(/[\s=:]/);
        const rest = end < 0 ? "" : line.slice(end).trim();
        return [end < 0 ? line : line.slice(0, end), /^[=:]/.test(rest) ? rest.slice(1).trim() : rest];
      }),
  );

type Configurable = { readonly namespace: string; readonly object: Stored; readonly args: readonly string[] };

type Configured<W> = { readonly workloads: readonly W[]; readonly unread: readonly string[] };

/** Gives workloads that have a file of properties these as flags. `unread`: why those of a workload are not known. */
export const withProperties = async <W extends Configurable>(
  session: Session,
  { properties }: { readonly properties?: { readonly file: string; readonly prefix: string } },
  workloads: readonly W[],
): Promise<Configured<W>> => {
  if (properties === undefined) return { workloads, unread: [] };
  const { file, prefix } = properties;
  const read = workloads.map(async (one): Promise<Configured<W>> => {
    const found = await mountedFile(session, one, file);
    if ("unread" in found) {
      const why = `its properties cannot be read (${file}: ${found.unread}), so its namespaces and settings are not known: give them to rekindle host by hand, and use --force`;
      return { workloads: [one], unread: [why] };
    }
    const known = Object.entries(propertiesIn(found.text)).filter(([name]) => name.startsWith(prefix));
    return { workloads: [{ ...one, args: known.map(([name, value]) => `--${name}=${value}`) }], unread: [] };
  });
  const all = await Promise.all(read);
  return { workloads: all.flatMap((one) => one.workloads), unread: all.flatMap(({ unread }) => unread) };
};
