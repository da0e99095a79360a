export { BehaviourError } from './behaviour.ts';
export { createSampleExtension, readBehaviours } from './sample.ts';
