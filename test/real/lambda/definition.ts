/** The definition of a deployed function. */

export type Definition = {
  readonly name: string;
  /** Folder of the bundle. */
  readonly taskRoot: string;
  /** File of the bundle without its extension; its export `handler` is called. */
  readonly module: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** The largest number of environments at once. */
  readonly concurrency: number;
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of NAME.log, which receives its output. */
  readonly logDir: string;
};

/** Returns an ARN in Lambda's format; account and region are invented. */
export const arnOf = (service: string, name: string): string => `arn:aws:${service}:eu-west-1:000000000000:${name}`;
