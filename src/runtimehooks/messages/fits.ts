import type { HookDefinition } from '../catalog/definition.ts';
import { clusterApiHooks } from '../catalog/definitions/definitions.ts';
import { fits as receivedFits } from './received-fits.ts';
import { fits as strictFits } from './strict-fits.ts';

/**
 * How strictly a message is checked. `strict`, for messages that we send: only known fields, all required fields, and
 * allowed values. `received`, for requests to a handler: types, and the fields that the hook's own messages require.
 * Objects of Cluster API in them may lack any field, since releases differ in what they send.
 */
export type Strictness = 'strict' | 'received';

/** Whether a message has no problem. */
type Fits = (message: unknown) => boolean;

/** Whether messages fit, by the names of their components. */
type FitsByComponent = Readonly<Record<string, Fits>>;

/** Whose checks are generated, and whose messages: those that the program checks. */
export const generated: Readonly<Record<Strictness, readonly ('request' | 'response')[]>> = {
  strict: ['request', 'response'],
  received: ['request'],
};

const fitsByStrictness: Readonly<Record<Strictness, FitsByComponent>> = {
  strict: strictFits,
  received: receivedFits,
};

const known: ReadonlySet<HookDefinition> = new Set(clusterApiHooks);

/**
 * What decides whether a message has no problem, generated from its schema: compiling that takes longer than the rest of
 * a start. Undefined for hooks other than Cluster API's, and for messages that are not checked so.
 */
export function fitsOf(
  hook: HookDefinition,
  message: 'request' | 'response',
  strictness: Strictness,
): Fits | undefined {
  if (!known.has(hook) || !generated[strictness].includes(message)) {
    return undefined;
  }
  return fitsByStrictness[strictness][hook[message].component];
}
