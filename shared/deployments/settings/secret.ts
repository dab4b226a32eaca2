/** The forms of a secret in a setting: the text itself, a file that holds it, or the ARN under which AWS stores it. */
import * as z from "zod";

/** The place of a stored secret. */
type Kept = { readonly file: string } | { readonly arn: string };

export type SecretSource = { readonly text: string } | Kept;

const arn = /^arn:aws[a-z-]*:(secretsmanager|ssm):[a-z0-9-]+:\d{12}:(secret:|parameter\/)\S+$/;

/** Returns whether a text is the ARN of a secret in Secrets Manager or of a parameter in the Parameter Store. */
const isArn = (text: string): boolean => arn.test(text);

const fileForm = z.strictObject({ file: z.string().min(1) });

/** Returns the value of `NAME_FILE` in the form that the schemas of this module accept. */
export const inFile = (path: unknown): z.input<typeof fileForm> => ({ file: String(path ?? "") });

/**
 * The schema of a text that `read` accepts, of its file, or of its ARN. `read` returns undefined for a wrong text; no
 * error repeats the text.
 */
export const textOrPlace = <Read extends object>(read: (text: string) => Read | undefined, error: string) =>
  z.unknown().transform((value, context): Read | Kept => {
    const file = fileForm.safeParse(value);
    if (file.success) return file.data;
    if (typeof value === "string" && isArn(value)) return { arn: value };
    const found = typeof value === "string" ? read(value) : undefined;
    if (found !== undefined) return found;
    context.addIssue(error);
    return z.NEVER;
  });

const matching =
  (form: RegExp) =>
  (text: string): SecretSource | undefined =>
    form.test(text) ? { text } : undefined;

/** A signing key, a list of them, or callers as JSON. */
export const signingSecret = () =>
  textOrPlace(matching(/^[\s\S]{16,}$/), "write at least 16 characters, or the ARN of a secret");

/** The first part of a path, which is a secret. */
export const secretPath = () =>
  textOrPlace(matching(/^[A-Za-z0-9_-]{16,128}$/), "write 16 to 128 letters, digits, - and _, or the ARN of a secret");
