export { localExtensionConfig } from '../sdk/development.ts';
export { createHostedExtension } from '../sdk/server.ts';
export { readBehaviours } from './behaviour.ts';
export { createSampleExtension } from './sample.ts';
