/** A function as it is deployed. */

export type Definition = {
  readonly name: string;
  /** Folder of the bundle. */
  readonly taskRoot: string;
  /** File of the bundle without its ending; its export `handler` is called. */
  readonly module: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  /** The most environments at once. */
  readonly concurrency: number;
  readonly environment: Readonly<Record<string, string>>;
  /** What it prints is appended to NAME.log there. */
  readonly logDir: string;
};

/** As Lambda writes it; account and region are of nobody. */
export const arnOf = (service: string, name: string): string => `arn:aws:${service}:eu-west-1:000000000000:${name}`;
