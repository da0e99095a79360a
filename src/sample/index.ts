export { BehaviourError, type Behaviours } from './behaviour.ts';
export { createSampleExtension, readBehaviours, type SampleOptions } from './sample.ts';
