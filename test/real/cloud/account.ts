/** The invented account and region of these tests. */

export const account = "000000000000";
export const region = "eu-west-1";

export const arnOf = (service: string, name: string): string => `arn:aws:${service}:${region}:${account}:${name}`;
