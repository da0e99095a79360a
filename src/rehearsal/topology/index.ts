export type { Blueprint, ExternalPatch } from './blueprint.ts';
export { discoverVariables } from './discover.ts';
export { applyRound, withoutBookkeeping } from './round.ts';
export { checkedVariables, definitionsIn } from './variables.ts';
