/** Names of objects, labels and their values, as the API server checks them, with its words for errors; and derived names. */
import { createHash } from "node:crypto";
import { subdomain } from "../core/object.ts";

const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const qualifiedSaying =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const labelSaying =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomainSaying =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const atMost = (what: string, length: number): string => `${what}must be no more than ${length} characters`;

/** Returns the errors of a name that becomes a label's value; empty if it may be one. */
export const qualifiedNameErrors = (name: string): readonly string[] => {
  if (name === "") return ["name part must be non-empty", qualifiedSaying];
  return [...(name.length > 63 ? [atMost("name part ", 63)] : []), ...(qualified.test(name) ? [] : [qualifiedSaying])];
};

export const labelErrors = (name: string): readonly string[] => [
  ...(name.length > 63 ? [atMost("", 63)] : []),
  ...(label.test(name) ? [] : [labelSaying]),
];

export const subdomainErrors = (name: string): readonly string[] => [
  ...(name.length > 253 ? [atMost("", 253)] : []),
  ...(subdomain.test(name) ? [] : [subdomainSaying]),
];

const longestLabel = 63;

/**
 * A name that derives from another one and is valid wherever Kubernetes takes a DNS label: services, volumes, values of
 * labels. One that is too long, or has dots, is cut, gets dashes for dots, and eight digits of the MD5 of the whole, as
 * upstream's names of UI services do.
 */
export const derivedLabel = (name: string, suffix: string): string => {
  const whole = `${name}-${suffix}`;
  if (whole.length <= longestLabel && !whole.includes(".")) return whole;
  const hash = createHash("md5").update(whole).digest("hex").slice(0, 8);
  const start = name.replaceAll(".", "-").slice(0, longestLabel - suffix.length - hash.length - 2);
  return `${start}-${hash}-${suffix}`;
};
