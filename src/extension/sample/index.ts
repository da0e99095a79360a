export { localExtensionConfig } from '../sdk/development.ts';
export { createHostedExtension } from '../sdk/server.ts';
export { createSampleExtension, readBehaviours } from './sample.ts';
