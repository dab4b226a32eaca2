/** Refusals: `Status` bodies with the words of a real API server. */

/** One reason among several why an object is invalid. */
export type Cause = { readonly reason: string; readonly message: string; readonly field: string };

export type Details = {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Partial<Cause>[];
  readonly retryAfterSeconds?: number;
};

/** Ends a request with a Status. Thrown inside the API only, which turns it into an answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;

  constructor(code: number, reason: string, message: string, details?: Details) {
    // It is an answer, not a defect: its stack is never read, and would cost more than most requests.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

/** A value of a wrong type. The API reports it in the form of the request. */
export class Mistyped extends Error {
  override readonly name = "Mistyped";
}

const typeName = (value: unknown): string => {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
};

export const mistyped = (value: unknown, field: string, wanted: string): Mistyped =>
  new Mistyped(`json: cannot unmarshal ${typeName(value)} into Go struct field ${field} of type ${wanted}`);

export type StatusBody = {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: Details;
  readonly code?: number;
};

export const statusOf = ({ code, reason, message, details }: Refusal): StatusBody => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  ...(reason !== "" && { reason }),
  ...(details && { details }),
  code,
});

/** The fields of a kind that messages name. */
export type KindNames = { readonly group: string; readonly plural: string; readonly kind: string };

const qualified = (word: string, group: string): string => (group === "" ? word : `${word}.${group}`);
const detailsOf = (group: string, kind: string, name: string): Details => ({
  ...(name !== "" && { name }),
  ...(group !== "" && { group }),
  ...(kind !== "" && { kind }),
});

export const notFound = (kind: KindNames, name: string): Refusal =>
  new Refusal(
    404,
    "NotFound",
    `${qualified(kind.plural, kind.group)} "${name}" not found`,
    detailsOf(kind.group, kind.plural, name),
  );

export const noSuchResource = (): Refusal =>
  new Refusal(404, "NotFound", "the server could not find the requested resource", {});

export const alreadyExists = (kind: KindNames, name: string, leaving: boolean): Refusal =>
  new Refusal(
    409,
    "AlreadyExists",
    `${leaving ? "object is being deleted: " : ""}${qualified(kind.plural, kind.group)} "${name}" already exists`,
    detailsOf(kind.group, kind.plural, name),
  );

/** `word` is the plural; for deletes it is the kind. */
export const conflict = (kind: KindNames, name: string, why: string, word = kind.plural): Refusal =>
  new Refusal(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(word, kind.group)} "${name}": ${why}`,
    detailsOf(kind.group, word, name),
  );

export const modified = (kind: KindNames, name: string): Refusal =>
  conflict(kind, name, "the object has been modified; please apply your changes to the latest version and try again");

export const badRequest = (message: string): Refusal => new Refusal(400, "BadRequest", message);

export const forbidden = (kind: KindNames, name: string, why: string, causes?: readonly Cause[]): Refusal =>
  new Refusal(
    403,
    "Forbidden",
    `${qualified(kind.plural, kind.group)}${name === "" ? "" : ` "${name}"`} is forbidden: ${why}`,
    {
      ...detailsOf(kind.group, kind.plural, name),
      ...(causes && { causes }),
    },
  );

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

export const expired = (message: string): Refusal => new Refusal(410, "Expired", message);

/** The client has seen a newer revision than this server: it must come back later. */
export const tooLarge = (wanted: number, current: number): Refusal =>
  new Refusal(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

const faultText = ({ field, message }: Cause): string => `${field}: ${message}`;

/** The refusal for a failure that the server did not foresee. */
export const internal = (message: string): Refusal => new Refusal(500, "", message);

/** The refusal of a request's options. */
export const badOptions = (kind: string, field: string, cause: Omit<Cause, "field">): Refusal =>
  invalid({ group: "meta.k8s.io", plural: "", kind }, "", [{ ...cause, field }]);

/** All faults of an object, as one 422. */
export const invalid = (kind: KindNames, name: string, causes: readonly Cause[]): Refusal => {
  const texts = [...new Set(causes.map(faultText))];
  const all = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new Refusal(422, "Invalid", `${qualified(kind.kind, kind.group)} "${name}" is invalid: ${all}`, {
    ...detailsOf(kind.group, kind.kind, name),
    causes,
  });
};

const shown = (value: unknown): string => (typeof value === "string" ? `"${value}"` : JSON.stringify(value));

/** Makes one cause in the server's words. */
export const cause = {
  required: (field: string, why = ""): Cause => ({
    reason: "FieldValueRequired",
    message: why === "" ? "Required value" : `Required value: ${why}`,
    field,
  }),
  invalid: (field: string, value: unknown, why: string): Cause => ({
    reason: "FieldValueInvalid",
    message: `Invalid value: ${shown(value)}: ${why}`,
    field,
  }),
  type: (field: string, found: string, wanted: string): Cause => ({
    reason: "FieldValueTypeInvalid",
    message: `Invalid value: "${found}": ${field} in body must be of type ${wanted}: "${found}"`,
    field,
  }),
  unsupported: (field: string, value: unknown, allowed: readonly unknown[]): Cause => ({
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${shown(value)}: supported values: ${allowed.map(shown).join(", ")}`,
    field,
  }),
  forbidden: (field: string, why: string): Cause => ({
    reason: "FieldValueForbidden",
    message: `Forbidden: ${why}`,
    field,
  }),
  duplicate: (field: string, value: unknown): Cause => ({
    reason: "FieldValueDuplicate",
    message: `Duplicate value: ${shown(value)}`,
    field,
  }),
  tooLong: (field: string, why: string): Cause => ({
    reason: "FieldValueTooLong",
    message: `Too long: ${why}`,
    field,
  }),
} as const;
