export type { Check } from './check.ts';
export { checks } from './checks.ts';
export { conductAsJunit, conductAsText } from './formats/index.ts';
export { type Conduct, checkConduct } from './run.ts';
