/** The ConfigMaps of a pod as its process sees them: files by path, and Spark's properties among them. */
import { itemsAt, textAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import { keyOf, type Store } from "./store.ts";

type Mount = { readonly volume: unknown; readonly rest: string };

const volumeNamed = (pod: Item, name: string): unknown =>
  itemsAt(pod, "spec", "volumes").find((each) => textAt(each, "name") === name);

const mountFor = (pod: Item, path: string): Mount | undefined => {
  const mounts = itemsAt(pod, "spec", "containers").flatMap((each) => itemsAt(each, "volumeMounts"));
  const mount = mounts.find((each) => path.startsWith(`${textAt(each, "mountPath")}/`));
  const folder = textAt(mount, "mountPath") ?? "";
  return mount === undefined
    ? undefined
    : { volume: volumeNamed(pod, textAt(mount, "name") ?? ""), rest: path.slice(folder.length + 1) };
};

const keyFor = (volume: unknown, rest: string): string =>
  textAt(
    itemsAt(volume, "configMap", "items").find((each) => textAt(each, "path") === rest),
    "key",
  ) ?? rest;

/** The text of a mounted file of a ConfigMap; undefined where there is none. */
export const fileIn = (store: Store, pod: Item, path: string): string | undefined => {
  const mount = mountFor(pod, path);
  const name = textAt(mount?.volume, "configMap", "name");
  if (mount === undefined || name === undefined) return undefined;
  const map = store.get("configmaps", keyOf(pod.metadata.namespace, name));
  return textAt(map, "data", keyFor(mount.volume, mount.rest));
};

const escapes: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

const unescaped = (text: string): string =>
  text.replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_all, code: string) =>
    code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );

const line = /^\s*((?:\\.|[^\\=:\s])+)\s*[=:\s]\s*(.*)$/;

/** Java's properties as a record. */
export const propertiesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split(/\r?\n/)
      .filter((each) => !/^\s*([#!]|$)/.test(each))
      .flatMap((each) => {
        const [, key, value] = line.exec(each) ?? [];
        return key === undefined ? [] : [[unescaped(key), unescaped(value ?? "")]];
      }),
  );
