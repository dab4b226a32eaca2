/** `rekindle manifests`: the installation as YAML, for `kubectl apply --server-side -f -`. */
import { stringify } from "yaml";
import type { Obj } from "../core/object.ts";
import { Refused } from "./failure.ts";
import { type Installation, objectsOf } from "./installation/objects.ts";
import { policyObjects } from "./installation/policies.ts";
import { webhookConfigurations } from "./installation/webhooks.ts";

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A mistake in a name would only show at the API server, after half of the objects are made. */
const checked = (installation: Installation): Installation => {
  const { namespace, namespaces, sparkNamespaces, sparkAccounts, image } = installation;
  const wrong = [namespace, ...namespaces, ...sparkNamespaces, ...sparkAccounts].find((name) => !label.test(name));
  if (wrong !== undefined) throw new Refused(`${JSON.stringify(wrong)} is no name for Kubernetes: a-z, 0-9 and -`);
  if (/^$|\s/.test(image)) throw new Refused(`${JSON.stringify(image)} is no image`);
  return installation;
};

const textOf = (object: Obj): string => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 });

const stream = (texts: readonly string[]): string => texts.map((text) => `---\n${text.trimEnd()}\n`).join("");

/** All documents as one YAML stream. `crds` are texts, printed as they are. */
export const manifestsText = (installation: Installation, crds: readonly string[]): string =>
  stream([...crds, ...objectsOf(checked(installation)).map(textOf)]);

/** Admission's rules without a webhook. */
export const policiesText = (namespaces: readonly string[]): string => stream(policyObjects(namespaces).map(textOf));

/** Webhook configurations for admission that is served at a URL, under a certificate that machines trust anyway. */
export const webhooksText = (url: string, namespaces: readonly string[]): string => {
  if (!url.startsWith("https://") || !URL.canParse(url)) throw new Refused(`${JSON.stringify(url)} is no https:// URL`);
  return stream(webhookConfigurations({ reach: { url }, ca: undefined, namespaces }).map(textOf));
};
