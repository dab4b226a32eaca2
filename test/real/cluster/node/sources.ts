/** The files of config map, secret, downward API and token volumes, before they are written. */
import { type Api, messageOf } from "./api.ts";
import { type Facts, fieldOf, type Keys, NotThere, resourceOf } from "./env.ts";
import type { DownwardItem, KeyPath, KeysOf, Pod, Source } from "./objects.ts";

export type VolumeFile = { readonly path: string; readonly content: Buffer; readonly mode?: number };

export type SourceContext = {
  readonly api: Api;
  readonly pod: Pod;
  readonly facts: Facts;
  readonly keys: Keys;
};

const chosen = (
  all: Map<string, Buffer>,
  items: readonly KeyPath[] | undefined,
  word: string,
  optional: boolean,
): VolumeFile[] => {
  if (items === undefined || items.length === 0) return [...all].map(([path, content]) => ({ path, content }));
  return items.flatMap(({ key, path, mode }) => {
    const content = all.get(key);
    if (content !== undefined) return [{ path, content, ...(mode === undefined ? {} : { mode }) }];
    if (optional) return [];
    throw new NotThere(`${word} references non-existent config key: ${key}`);
  });
};

const keyFiles = async (keys: Keys, kind: "configmaps" | "secrets", ref: KeysOf): Promise<VolumeFile[]> => {
  const word = kind === "configmaps" ? "configmap" : "secret";
  const all = await keys.get(kind, ref.name);
  if (all !== undefined) return chosen(all, ref.items, word, ref.optional ?? false);
  if (ref.optional) return [];
  throw new NotThere(`${word} "${ref.name}" not found`);
};

const downwardFile = (context: SourceContext, item: DownwardItem): VolumeFile => {
  const { pod, facts } = context;
  const name = item.resourceFieldRef?.containerName;
  const text =
    item.fieldRef !== undefined
      ? fieldOf(pod, item.fieldRef, facts)
      : resourceOf(
          pod.spec.containers.find((container) => container.name === name),
          item.resourceFieldRef ?? { resource: "limits.cpu" },
          facts,
        );
  return { path: item.path, content: Buffer.from(text), ...(item.mode === undefined ? {} : { mode: item.mode }) };
};

const tokenFile = async ({ api, pod }: SourceContext, token: Source["serviceAccountToken"]): Promise<VolumeFile[]> => {
  if (token === undefined) return [];
  const { name, namespace, uid } = pod.metadata;
  const account = pod.spec.serviceAccountName ?? "default";
  const reply = await api.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {
      audiences: token.audience === undefined ? [] : [token.audience],
      expirationSeconds: token.expirationSeconds ?? 3607,
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    },
  });
  if (reply.status !== 201) throw new NotThere(`failed to fetch token: ${messageOf(reply)}`);
  const { status } = reply.body as { status: { token: string } };
  return [{ path: token.path, content: Buffer.from(status.token) }];
};

/** Returns all files of one source. */
export const filesOf = async (context: SourceContext, source: Source): Promise<VolumeFile[]> => {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (configMap !== undefined) return keyFiles(context.keys, "configmaps", configMap);
  if (secret !== undefined)
    return keyFiles(context.keys, "secrets", { ...secret, name: secret.secretName ?? secret.name ?? "" });
  if (downwardAPI !== undefined) return (downwardAPI.items ?? []).map((item) => downwardFile(context, item));
  return tokenFile(context, serviceAccountToken);
};
