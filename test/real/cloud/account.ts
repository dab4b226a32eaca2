/** The account and the region of these tests; nobody's. */

export const account = "000000000000";
export const region = "eu-west-1";

export const arnOf = (service: string, name: string): string => `arn:aws:${service}:${region}:${account}:${name}`;
