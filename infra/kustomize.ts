/** `infra/kubernetes` as kustomize reads it: CRDs, a base, and an overlay for each way to run Rekindle. */
import {
  driverGrants,
  type Installation,
  namespaceOf,
  objectsOf,
  settingsName,
} from "../shared/cli/installation/objects.ts";
import { yamlStream, yamlText } from "../shared/cli/io/documents.ts";
import type { Obj } from "../shared/core/object.ts";
import { type Family, families, familyOf } from "../shared/kube/resources.ts";
import { settingsMap } from "./settings-maps.ts";
import { besideLambda, onDispatch, onKnative, onNats, type Place } from "./workloads.ts";

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
  readonly files: Readonly<Record<string, readonly Obj[]>>;
  readonly more?: object;
};

const written = ({ folder, on = [], files, more = {} }: Folder): readonly File[] => [
  {
    path: `kubernetes/${folder}/kustomization.yaml`,
    text: yamlText({
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      ...more,
      resources: [...on, ...Object.keys(files)],
    }),
  },
  ...Object.entries(files).map(([name, objects]) => ({
    path: `kubernetes/${folder}/${name}`,
    text: yamlStream(objects),
  })),
];

/** The host's installation without the namespace, which is part of the base. */
const hostOnly = (image: string, chosen?: readonly Family[]): readonly Obj[] =>
  objectsOf({ ...plain(image), families: chosen }).filter(({ kind }) => kind !== "Namespace");

/** The host's settings beside its own variables, see `settingsFrom`. */
const hostSettings = (given: Readonly<Record<string, string>> = {}): Obj =>
  settingsMap("hostOverlay", { name: settingsName, namespace, given });

const below = ["../../crds", "../../base"];

const isOther = ({ metadata: { name } }: Obj, chosen: Family): boolean => {
  const of = familyOf(name.slice(name.indexOf(".") + 1));
  return of !== undefined && of !== chosen;
};

/** Deletes the CRDs of the other family. */
const without = ({ apiVersion, kind, metadata: { name } }: Obj): object => ({
  patch: yamlText({ $patch: "delete", apiVersion, kind, metadata: { name } }),
});

/** The host for one family: only its CRDs, rights and setting. */
const ofFamily = (image: string, crds: readonly Obj[], chosen: Family): Folder => ({
  folder: `overlays/host-${chosen}`,
  on: below,
  files: { "host.yaml": [...hostOnly(image, [chosen]), hostSettings({ REKINDLE_FAMILIES: chosen })] },
  more: { patches: crds.filter((crd) => isOther(crd, chosen)).map(without) },
});

type Objects = (place: Place, choice: { readonly admission: boolean }) => readonly Obj[];

/** Functions in the cluster: an overlay without admission, and one with it. */
const inCluster = (place: Place, name: string, objects: Objects): readonly Folder[] =>
  [false, true].map((admission) => ({
    folder: `overlays/${name}${admission ? "-admission" : ""}`,
    on: below,
    files: { [`${name}.yaml`]: objects(place, { admission }) },
  }));

export const kustomizations = (image: string, crds: readonly Obj[]): readonly File[] => {
  const place = { namespace, image };
  return [
    { folder: "crds", files: { "crds.yaml": crds } },
    { folder: "base", files: { "namespace.yaml": [namespaceOf(namespace)] } },
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
    { folder: "overlays/host", on: below, files: { "host.yaml": [...hostOnly(image), hostSettings()] } },
    ...families.map((family) => ofFamily(image, crds, family)),
    { folder: "overlays/lambda", on: below, files: { "lambda.yaml": besideLambda(place) } },
    ...inCluster(place, "knative", onKnative),
    ...inCluster(place, "dispatch", onDispatch),
    ...inCluster(place, "nats", onNats),
  ].flatMap(written);
};
