export { discoverVariables } from './discover.ts';
export { kindOfTemplate } from './items.ts';
export { applyPatch, BadPatch } from './patch.ts';
export { applyRound, withoutBookkeeping } from './round.ts';
export { checkedVariables, definitionsIn } from './variables.ts';
