/** `rekindle manifests`: the installation as YAML, for `kubectl apply --server-side -f -`. */
import { stringify } from "yaml";
import { Refused } from "./failure.ts";
import { type Installation, objectsOf } from "./installation/objects.ts";

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A mistake in a name would only show at the API server, after half of the objects are made. */
const checked = (installation: Installation): Installation => {
  const { namespace, namespaces, sparkNamespaces, sparkAccounts, image } = installation;
  const wrong = [namespace, ...namespaces, ...sparkNamespaces, ...sparkAccounts].find((name) => !label.test(name));
  if (wrong !== undefined) throw new Refused(`${JSON.stringify(wrong)} is no name for Kubernetes: a-z, 0-9 and -`);
  if (/^$|\s/.test(image)) throw new Refused(`${JSON.stringify(image)} is no image`);
  return installation;
};

/** All documents as one YAML stream. `crds` are texts, printed as they are. */
export const manifestsText = (installation: Installation, crds: readonly string[]): string => {
  const objects = objectsOf(checked(installation)).map((object) =>
    stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }),
  );
  return [...crds, ...objects].map((text) => `---\n${text.trimEnd()}\n`).join("");
};
