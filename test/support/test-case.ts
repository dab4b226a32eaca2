/** A case of a suite that a command runs: its name, which reports show, and its work. */
export const testCase = <Run>(name: string, run: Run): { readonly name: string; readonly run: Run } => ({ name, run });
