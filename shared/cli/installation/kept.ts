/** The flags of an installation, kept beside it in a ConfigMap, so that an upgrade prints the same installation again. */
import * as z from "zod";
import { pages } from "../../adapters/kubernetes/requests.ts";
import type { Obj, Stored } from "../../core/object.ts";
import { configMaps } from "../../kube/resources.ts";
import { Refused } from "../io/failure.ts";
import type { Session } from "../io/tools.ts";
import { ours } from "./marks.ts";

const mark = "rekindle.dev/installation";

/** Part of an installation: everything for a host, or accounts and roles of functions. */
export type Part = "host" | "functions";

type Flags = { readonly part: Part; readonly namespace: string; readonly args: readonly string[] };

/** The ConfigMap that keeps the flags. */
export const keptFlags = ({ part, namespace, args }: Flags): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: `rekindle-installation${part === "host" ? "" : `-${part}`}`,
    namespace,
    labels: { ...ours, [mark]: part },
  },
  data: {
    flags: JSON.stringify(args),
    "next-version": "rekindle manifests --upgrade | kubectl apply --server-side -f -",
  },
});

const shape = z.looseObject({ data: z.looseObject({ flags: z.string() }) });

const argsIn = (object: Stored): readonly string[] => {
  const { namespace = "", name } = object.metadata;
  try {
    return z.array(z.string()).parse(JSON.parse(shape.parse(object).data.flags));
  } catch {
    throw new Refused(
      `ConfigMap ${namespace}/${name} cannot be read: correct its flags, or delete it and say the flags`,
    );
  }
};

/** Reads the flags of all installations in this cluster. */
export const flagsKept = async ({ transport }: Session): Promise<readonly (readonly string[])[]> => {
  const found: Stored[] = [];
  for await (const page of pages(transport, { resource: configMaps, selector: mark })) found.push(...page.items);
  if (found.length > 0) return found.map(argsIn);
  throw new Refused(
    "this cluster keeps no flags of an installation (ConfigMap rekindle-installation): say those that it was installed with, without --upgrade; Helm keeps its own: helm upgrade",
  );
};
