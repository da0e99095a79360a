import { aws } from './aws.ts';
import { azure } from './azure.ts';
import { docker } from './docker.ts';
import { gcp } from './gcp.ts';
import type { MachinePoolKind } from './kind.ts';
import { oci } from './oci.ts';

export type { Effect, MachinePoolKind, PoolChange } from './kind.ts';

/** Of whose kinds it is known what they do with instances; the others are not known. */
export const machinePoolKinds: ReadonlyMap<string, MachinePoolKind> = new Map(
  [...aws, ...azure, ...gcp, ...oci, ...docker].map((one) => [one.kind, one]),
);
