/** The address of an ingress, by upstream's URL formats. */

export type Address = {
  readonly host: string;
  /** "" or "/" at the root. */
  readonly path: string;
  readonly text: string;
};

type Named = { readonly name: string; readonly namespace: string; readonly applicationId: string };

const filled = (format: string, { name, namespace, applicationId }: Named): string =>
  format
    .replaceAll(/\{\{\s*\$appName\s*\}\}/g, name)
    .replaceAll(/\{\{\s*\$appNamespace\s*\}\}/g, namespace)
    .replaceAll(/\{\{\s*\$appId\s*\}\}/g, applicationId);

/** A format without a scheme means http. The host of an ingress has no port. */
export const addressOf = (format: string, named: Named): Address => {
  const url = filled(format, named);
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  const [, host = "", path = ""] = /^[^:]+:\/\/([^/?#:]*)(?::\d+)?([^?#]*)/.exec(text) ?? [];
  return { host, path, text };
};

export const isRoot = ({ path }: Address): boolean => path === "" || path === "/";
