/**
 * `infra/kubernetes` as kustomize reads it: CRDs, bases, and an overlay for each way to run Rekindle. An object that
 * several overlays have stands in one base; an overlay that changes another one is that one with patches.
 */

import { basename, dirname } from "node:path";
import type { Obj } from "../shared/core/object.ts";
import { yamlStream, yamlText } from "../shared/inspection/io/documents.ts";
import {
  driverGrants,
  type Installation,
  namespaceOf,
  objectsOf,
  settingsName,
} from "../shared/installation/objects.ts";
import { defaultFamilies, type Family, families } from "../shared/kube/resources.ts";
import { familyOf } from "../shared/registry/names.ts";
import { operationsOf } from "./patches.ts";
import { settingsMap } from "./settings-maps.ts";
import { besideLambda, onDispatch, onKnative, onNats } from "./workloads.ts";

type File = { readonly path: string; readonly text: string };

const namespace = "rekindle";

/** The installation that `rekindle manifests` prints without flags. */
export const plain = (image: string): Installation => ({
  ...{ namespace, image, namespaces: [], sparkNamespaces: [], sparkAccounts: [] },
  ...{ host: true, admission: false },
});

type Folder = {
  readonly folder: string;
  /** Other folders, from here. */
  readonly on?: readonly string[];
  readonly files?: Readonly<Record<string, readonly Obj[]>>;
  readonly more?: object;
};

const kustomization = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization" };

const written = ({ folder, on = [], files = {}, more = {} }: Folder): readonly File[] => [
  {
    path: `kubernetes/${folder}/kustomization.yaml`,
    text: yamlText({ ...kustomization, ...more, resources: [...on, ...Object.keys(files)] }),
  },
  ...Object.entries(files).map(([name, objects]) => ({
    path: `kubernetes/${folder}/${name}`,
    text: yamlStream(objects),
  })),
];

/** The host's installation without the namespace, which is a base. */
const hostOnly = (image: string, chosen?: Family): readonly Obj[] => [
  ...objectsOf({ ...plain(image), families: chosen && [chosen] }).filter(({ kind }) => kind !== "Namespace"),
  settingsMap("hostOverlay", {
    ...{ name: settingsName, namespace },
    given: chosen === undefined ? {} : { REKINDLE_FAMILIES: chosen },
  }),
];

/** The objects of each way to run Rekindle but for its CRDs and its namespace, by overlay. */
const wanted = (image: string): Readonly<Record<string, readonly Obj[]>> => {
  const place = { namespace, image };
  const admission = { admission: true };
  return {
    host: hostOnly(image),
    ...Object.fromEntries(families.map((family) => [`host-${family}`, hostOnly(image, family)])),
    lambda: besideLambda(place),
    ...{ knative: onKnative(place), dispatch: onDispatch(place), nats: onNats(place) },
    "knative-admission": onKnative(place, admission),
    "dispatch-admission": onDispatch(place, admission),
    "nats-admission": onNats(place, admission),
  };
};

/** The overlay that another one changes. */
const changedBy: Readonly<Record<string, string>> = {
  ...Object.fromEntries(families.map((family) => [`host-${family}`, "host"])),
  ...{ "knative-admission": "knative", "dispatch-admission": "dispatch", "nats-admission": "nats" },
};

/** The bases, each with the overlays whose objects it holds. */
const bases: Readonly<Record<string, readonly string[]>> = {
  "called-functions": ["lambda", "knative", "dispatch", "nats"],
  "queue-functions": ["lambda", "knative", "nats"],
  sqs: ["lambda", "knative"],
  workers: ["knative", "nats"],
  "admission-account": ["lambda", "knative-admission", "nats-admission"],
  admission: ["knative-admission", "nats-admission"],
};

const identityOf = ({ kind, metadata }: Obj): string => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;

const targetOf = ({ kind, metadata: { name } }: Obj) => ({ kind, name });

type Change = { readonly added: readonly Obj[]; readonly patches: readonly object[] };

/** Returns what makes the objects `after` of those of another overlay. */
const changeOf = (before: readonly Obj[], after: readonly Obj[]): Change => {
  const known = new Map(before.map((object) => [identityOf(object), object]));
  const names = new Set(after.map(identityOf));
  const gone = before.filter((object) => !names.has(identityOf(object)));
  if (gone.length > 0) throw new Error(`an overlay loses ${gone.map(identityOf).join(", ")}: patch it away`);
  const patches = after.flatMap((object) => {
    const operations = operationsOf(known.get(identityOf(object)) ?? object, object);
    return operations.length === 0 ? [] : [{ target: targetOf(object), patch: yamlText(operations) }];
  });
  return { added: after.filter((object) => !known.has(identityOf(object))), patches };
};

const isOther = ({ metadata: { name } }: Obj, chosen: Family): boolean => {
  const of = familyOf(name.slice(name.indexOf(".") + 1));
  return of !== undefined && of !== chosen && defaultFamilies.includes(of);
};

/** Deletes the CRDs of the default families that are not chosen. */
const withoutCrds = (crds: readonly Obj[], chosen: Family): readonly object[] =>
  crds
    .filter((crd) => isOther(crd, chosen))
    .map(({ apiVersion, kind, metadata: { name } }) => ({
      patch: yamlText({ $patch: "delete", apiVersion, kind, metadata: { name } }),
    }));

/** Returns the base for the overlays that have an object; undefined if only one has it. */
const baseFor = (holders: readonly string[]): string | undefined => {
  if (holders.length < 2) return undefined;
  const found = Object.entries(bases).find(([, names]) => names.toSorted().join() === holders.toSorted().join());
  if (found === undefined) throw new Error(`name the base of what ${holders.join(", ")} have`);
  return found[0];
};

/** Bases and overlays: each object is written once. */
const pooled = (image: string, crds: readonly Obj[]): readonly Folder[] => {
  const all = wanted(image);
  const changes = new Map(
    Object.entries(all).map(([name, objects]) => [name, changeOf(all[changedBy[name] ?? ""] ?? [], objects)]),
  );
  const holders = Map.groupBy(
    [...changes].flatMap(([name, { added }]) =>
      added.map((object) => ({ name, object, text: JSON.stringify(object) })),
    ),
    ({ text }) => text,
  );
  const of = (text: string): string | undefined => baseFor((holders.get(text) ?? []).map(({ name }) => name));
  const shared = [...holders].flatMap(([text, [first]]) => {
    const base = of(text);
    return base === undefined || first === undefined ? [] : [{ base, object: first.object }];
  });
  const overlays = [...changes].map(([name, { added, patches }]): Folder => {
    const other = changedBy[name];
    const own = added.filter((object) => of(JSON.stringify(object)) === undefined);
    const onBases = Object.keys(bases).filter((base) => bases[base]?.includes(name));
    const family = families.find((one) => name === `host-${one}`);
    const more = [...patches, ...(family === undefined ? [] : withoutCrds(crds, family))];
    return {
      folder: `overlays/${name}`,
      on: [
        ...(other === undefined ? ["../../../crds", "../../bases/namespace"] : [`../${other}`]),
        ...(family === undefined || defaultFamilies.includes(family) ? [] : [`../../../optional-crds/${family}`]),
        ...onBases.map((base) => `../../bases/${base}`),
      ],
      files: own.length === 0 ? {} : { [`${name}.yaml`]: own },
      more: more.length === 0 ? {} : { patches: more },
    };
  });
  const objectsIn = (base: string): readonly Obj[] =>
    shared.filter((one) => one.base === base).map(({ object }) => object);
  return [
    ...Object.keys(bases).map((base) => ({ folder: `bases/${base}`, files: { [`${base}.yaml`]: objectsIn(base) } })),
    ...overlays,
  ];
};

/** CRDs as folders of kustomize: a name without an ending, because others read all YAML files there as CRDs. */
const crdFolders = (paths: readonly string[]): readonly File[] =>
  [...Map.groupBy(paths, dirname)].map(([folder, found]) => ({
    path: `${folder}/Kustomization`,
    text: yamlText({ ...kustomization, resources: found.map((path) => basename(path)) }),
  }));

/** `crds`: the CRDs by their paths from `infra`. */
export const kustomizations = (image: string, crds: Readonly<Record<string, Obj>>): readonly File[] => [
  ...crdFolders(Object.keys(crds)),
  ...[
    { folder: "bases/namespace", files: { "namespace.yaml": [namespaceOf(namespace)] } },
    {
      folder: "drivers",
      files: {
        "drivers.yaml": driverGrants({
          sparkNamespaces: ["default"],
          sparkAccounts: ["spark", "spark-operator-spark"],
        }),
      },
      more: { namespace: "default" },
    },
    ...pooled(image, Object.values(crds)),
  ].flatMap(written),
];
