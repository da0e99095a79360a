export { type InformerChange, objectKey } from './collection-copy.ts';
export { type Informer, type InformerOptions, startInformer } from './informer.ts';
export { connectToFollow, type WatchPace, waitAfter } from './pace.ts';
export { type AfterWatch, WatchRetries } from './retries.ts';
