export { examineInstallation, examineObject, type NamedObject } from './examine.ts';
export { rolloutTicks } from './rollouts.ts';
export type { Installation, Tick } from './tick.ts';
export { upgradeTicks } from './upgrade.ts';
