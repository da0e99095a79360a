export { discoverVariables } from './discover.ts';
export { kindOfTemplate } from './items.ts';
export { applyPatch, BadPatch } from './patch.ts';
export { applyRound, withoutBookkeeping } from './round.ts';
export { checkedTopology, definitionsIn } from './variables.ts';
