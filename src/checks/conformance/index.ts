export type { Check } from './check.ts';
export { checks } from './checks.ts';
export { conductAsJunit } from './formats/junit.ts';
export { conductAsText } from './formats/text.ts';
export { type Conduct, checkConduct } from './run.ts';
