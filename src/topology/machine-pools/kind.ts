import { fieldAt, type JsonObject, textAt } from '../../kubernetes/index.ts';
import type { GroupObjects } from '../world/groups.ts';

/**
 * What a provider makes of a field that changes: it replaces all instances, or as many as its `maxSurge` says; only new
 * instances get it; it is written in place; nothing reads it any more; the provider's webhook refuses it; or the provider
 * hands it to a cloud's service, which decides.
 */
export type Effect = 'replaces' | 'replacesSurge' | 'newInstances' | 'inPlace' | 'ignored' | 'refused' | 'service';

export interface PoolChange {
  before: GroupObjects;
  after: GroupObjects;
}

/** The effect of a field, or how it follows from the objects; undefined if it is not known. */
export type Rule = Effect | ((change: PoolChange) => Effect | undefined);

export interface MachinePoolKind {
  readonly kind: string;
  /** Who decides about fields of the effect `service`: `AKS`. */
  readonly service?: string;
  /** The effects of fields of the MachinePool: the reference to its bootstrap config is `config`. */
  readonly version: Rule;
  readonly config: Rule;
  readonly failureDomains?: Rule;
  /** The effect of any field of its bootstrap config. */
  readonly userData: Rule;
  /** Those of fields of its infrastructure, below `spec`: the longest path counts. What others do is not known. */
  readonly fields: Readonly<Record<string, Rule>>;
  /** How many instances make way for others if not all do. */
  surge?(infrastructure: JsonObject, replicas: number): number;
  /** How instances are replaced, in a plain sentence. Undefined: they never are, or a service decides. */
  manner?(infrastructure: JsonObject, replicas: number): string;
}

export const all = (effect: Rule, ...fields: readonly string[]): Record<string, Rule> =>
  Object.fromEntries(fields.map((field) => [field, effect]));

/** Fields that a webhook lets nobody change once they are set, with their effect when they are set. */
export const onceSet = (effect: Effect, ...fields: readonly string[]): Record<string, Rule> =>
  Object.fromEntries(
    fields.map((field) => [
      field,
      ({ before }: PoolChange) =>
        fieldAt(before.infrastructure, 'spec', ...field.split('.')) === undefined ? effect : 'refused',
    ]),
  );

/** A field that nobody may change, and that the webhook sets if it is missing: a first value may be the one that the pool has. */
export const fixedWithDefault = (field: string, defaultOf: (pool: JsonObject) => string): Record<string, Rule> => ({
  [field]: ({ before, after }) => {
    const [old, wanted] = [before, after].map(
      ({ infrastructure = {} }) => textAt(infrastructure, 'spec', field) || defaultOf(infrastructure),
    );
    return old === wanted ? 'inPlace' : 'refused';
  },
});

/** A service upgrades nodes to the version. Which one a pool without a version has, is not known. */
export const upgradedVersion: Rule = ({ before, after }) => {
  const [old, wanted] = [before, after].map(({ object }) => textAt(object, 'spec', 'template', 'spec', 'version'));
  const upgrade = old === '' ? undefined : 'replaces';
  return wanted === '' ? 'ignored' : upgrade;
};
